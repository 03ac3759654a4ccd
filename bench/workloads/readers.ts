// READERS: what runs cost while 1,000 streams that show them are open and read: W1 beside the streams of the namespace, and
// one run of 50 steps beside readers of its own stream. Each figure stands beside one without readers, taken right before it.

import { control, getRun } from '../load/api.ts'
import { ClosedLoop } from '../load/closed-loop.ts'
import { EventPoster } from '../load/event-poster.ts'
import { closeReaders, openReaders } from '../load/readers.ts'
import { RunStreams } from '../load/run-stream.ts'
import { expectation, verify } from '../load/verify.ts'
import { CpuMeter } from '../measure/cpu-meter.ts'
import type { Figures, Result } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { Rig } from '../rig/rig.ts'
import { BENCH_APP, SEQUENCE_3, SEQUENCE_50 } from '../rig/workflows.ts'

const READERS = [100, 1000]
const PATHS = ['/runs/stream', '/stream?topics=runs']
const IN_FLIGHT = 100
const WARM_UP_SECONDS = 3
const RUNS_OF_50 = 9

export async function readers(options: BenchOptions): Promise<Result[]> {
  const rig = await Rig.open(options)
  try {
    const { figures, problems } = await besideLoad(rig, options)
    const ofRun = await ofOneRun(rig)
    const notes = ['the readers are sockets of the bench process and share the machine with engine, runner and load']
    const title = `runs beside readers of streams, on ${options.store === undefined ? 'SQLite' : 'PostgreSQL'}`
    return [
      {
        workload: 'READERS',
        title,
        figures: { ...figures, ...ofRun },
        notes,
        problems,
        profiles: await rig.stopEngine(),
      },
    ]
  } finally {
    await rig.close()
  }
}

async function besideLoad(rig: Rig, { seconds }: BenchOptions) {
  const { origin } = rig.engine
  const loop = new ClosedLoop({ origin: rig.origins, runner: rig.runner, shape: SEQUENCE_3, inFlight: IN_FLIGHT })
  await loop.measure(WARM_UP_SECONDS)
  const rate = async () => {
    const meter = new CpuMeter({ engine: rig.engine.pid })
    const window = await loop.measure(seconds)
    rig.profileSpan(window)
    const mainSeconds = meter.read().shares[0]?.mainSeconds ?? Number.NaN
    return { perSecond: window.runs / window.seconds, mainUs: (mainSeconds * 1e6) / window.runs }
  }
  const figures: Record<string, Figures> = {}
  for (const path of PATHS) {
    for (const count of READERS) {
      const alone = await rate()
      const sockets = await openReaders(origin, Array(count).fill({ path }))
      const read = sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
      const beside = await rate()
      const bytes = sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0) - read
      closeReaders(sockets)
      figures[`${count} of ${path}`] = {
        'runs/s without': alone.perSecond,
        'runs/s with': beside.perSecond,
        '% lost': 100 * (1 - beside.perSecond / alone.perSecond),
        'us of the main thread a run without': alone.mainUs,
        'us of the main thread a run with': beside.mainUs,
        'MB/s to the readers': bytes / seconds / 1e6,
      }
    }
  }
  await loop.stop()
  const problems = [...loop.problems, ...(await verify(origin, [expectation(SEQUENCE_3, loop)]))]
  return { figures, problems }
}

async function ofOneRun(rig: Rig): Promise<Record<string, Figures>> {
  const { origin } = rig.engine
  const poster = new EventPoster(origin)
  const streams = new RunStreams(origin)
  let n = 1e9
  /** A run that has hardly begun. One that ends before it is paused is left out. */
  const pausedRun = async (): Promise<string> => {
    for (;;) {
      const { runId } = await poster.send({ name: SEQUENCE_50.name, app: BENCH_APP, data: { n: ++n } })
      if (await control(origin, runId, 'pause')) return runId
    }
  }
  /** The time from the start of a run, when all of its readers are there, to its end. */
  const watchedRun = async (count: number): Promise<number> => {
    const id = await pausedRun()
    const sockets = await openReaders(origin, Array(count).fill({ path: `/runs/${id}/stream` }))
    const from = Date.now()
    await control(origin, id, 'resume')
    await streams.untilSucceeded(id)
    const { finishedAt } = await getRun(origin, id)
    closeReaders(sockets)
    return Date.parse(String(finishedAt)) - from
  }
  for (let i = 0; i < RUNS_OF_50; i++) await watchedRun(0)
  const figures: Record<string, Figures> = {}
  for (const count of READERS) {
    const [alone, beside] = [[] as number[], [] as number[]]
    for (let i = 0; i < RUNS_OF_50; i++) {
      alone.push(await watchedRun(0))
      beside.push(await watchedRun(count))
    }
    const median = (all: number[]) => all.sort((a, b) => a - b)[all.length >> 1] as number
    figures[`${count} of one run of 50 steps`] = {
      'ms without': median(alone),
      'ms with': median(beside),
      '% more': 100 * (median(beside) / median(alone) - 1),
    }
  }
  await Promise.all([poster.close(), streams.close()])
  return figures
}
