// W2: one run of three steps at a time, from its POST to the stored result: the latency of an idle engine.

import { measureCeiling } from '../../ceiling/ceiling.ts'
import { EventPoster } from '../../load/event-poster.ts'
import { RunStreams } from '../../load/run-stream.ts'
import { verify } from '../../load/verify.ts'
import { CpuMeter } from '../../measure/cpu-meter.ts'
import { percentiles } from '../../measure/latency.ts'
import { nowUs } from '../../measure/profile.ts'
import { ceilingFigures, cpuFigures, type Result } from '../../report/report.ts'
import { type BenchOptions, type Over, pairsOf, type RunnerKind } from '../../rig/options.ts'
import { Rig } from '../../rig/rig.ts'
import { BENCH_APP, memosOfPasses, SEQUENCE_3 } from '../../rig/workflows.ts'

/** A freshly started engine runs uncompiled code: its first thousand runs take several times as long. */
const WARM_UP_RUNS = 2000
const shape = SEQUENCE_3

export async function w2(options: BenchOptions): Promise<Result[]> {
  const results: Result[] = []
  for (const [over, runner] of pairsOf(options.over, options.runners)) {
    results.push(await measureOneByOne(options, over, runner))
  }
  return results
}

async function measureOneByOne(options: BenchOptions, over: Over, kind: RunnerKind): Promise<Result> {
  const rig = await Rig.open(options, over, kind)
  try {
    const runs = new OneByOne(rig)
    await runs.go(WARM_UP_RUNS, options.seconds)
    runs.forgetTimes()
    const meter = new CpuMeter(rig.pids)
    const fromUs = nowUs()
    await runs.go(Number.POSITIVE_INFINITY, options.seconds)
    const toUs = nowUs()
    const cpu = meter.read()
    rig.profileSpan({ fromUs, toUs })
    await runs.close()
    const problems = await verify(rig.engine.origin, [{ shape, accepted: runs.n, samples: runs.samples }])
    const profiles = await rig.stopEngine()
    const { runner } = rig
    const seconds = options.seconds / 3
    const ceiling = kind === 'bare' && (await measureCeiling({ runner, shape, inFlight: 1, seconds, over }))
    const count = runs.storedMs.length
    const runsPerS = (count * 1e6) / (toUs - fromUs)
    const rate = { runsPerS, invokesPerS: runsPerS * memosOfPasses(shape, 0).length }
    const result: Result = {
      workload: 'W2',
      title: `3 sequential steps, one run at a time, over ${over}, ${kind} runner`,
      figures: {
        'to the 202 ms': { ...percentiles(runs.acceptedMs) },
        'to last answer ms': { ...percentiles(runs.answeredMs) },
        'to stored result ms': { ...percentiles(runs.storedMs) },
        counted: { 'runs in window': count, 'runs/s': runsPerS },
        ...cpuFigures(cpu, count),
        ...(ceiling && ceilingFigures(ceiling, rate)),
      },
      notes: [
        "stored: the frame 'succeeded' on the run's own event stream, opened when the 202 is there; that GET and " +
          'its reads are part of the cost',
      ],
      problems,
      profiles,
    }
    return result
  } finally {
    await rig.close()
  }
}

class OneByOne {
  readonly #poster: EventPoster
  readonly #streams: RunStreams
  readonly #rig: Rig
  readonly samples = new Map<number, string>()
  n = 0
  acceptedMs: number[] = []
  answeredMs: number[] = []
  storedMs: number[] = []

  constructor(rig: Rig) {
    this.#rig = rig
    this.#poster = new EventPoster(rig.engine.origin)
    this.#streams = new RunStreams(rig.engine.origin)
  }

  /** Ends after this many runs or after this long, whichever is first. */
  async go(count: number, seconds: number): Promise<void> {
    const endAt = performance.now() + seconds * 1000
    for (let i = 0; i < count && performance.now() < endAt; i++) await this.#one()
  }

  forgetTimes(): void {
    this.acceptedMs = []
    this.answeredMs = []
    this.storedMs = []
  }

  async close(): Promise<void> {
    await Promise.all([this.#poster.close(), this.#streams.close()])
  }

  async #one(): Promise<void> {
    const n = ++this.n
    const from = performance.now()
    const answered = new Promise<number>(resolve => {
      this.#rig.runner.onLeft(({ finished }) => {
        if (finished.includes(n)) resolve(performance.now())
      })
    })
    const { runId } = await this.#poster.send({ name: shape.name, app: BENCH_APP, data: { n } })
    this.acceptedMs.push(performance.now() - from)
    const storedAt = await this.#streams.untilSucceeded(runId)
    this.storedMs.push(storedAt - from)
    this.answeredMs.push((await answered) - from)
    this.samples.set(n, runId)
  }
}
