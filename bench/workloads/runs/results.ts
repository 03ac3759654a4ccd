// RESULTS: runs whose results the caller holds: `POST /events?wait=30s` answers with the result. One run at a time, and 100 in
// flight.

import { isDeepStrictEqual } from 'node:util'
import { EventPoster } from '../../load/event-poster.ts'
import { CpuMeter } from '../../measure/cpu-meter.ts'
import { percentiles } from '../../measure/latency.ts'
import { nowUs } from '../../measure/profile.ts'
import { cpuFigures, type Result } from '../../report/report.ts'
import { type BenchOptions, type Over, pairsOf, type RunnerKind } from '../../rig/options.ts'
import { Rig } from '../../rig/rig.ts'
import { BENCH_APP, expectedResult, SEQUENCE_3 } from '../../rig/workflows.ts'

/** An engine is warm, its code compiled, after this many runs. */
const WARM_UP_RUNS = 3000
const IN_FLIGHT = [1, 100]
const PATH = '/events?wait=30s'
const PROBLEMS_MAX = 5

export async function results(options: BenchOptions): Promise<Result[]> {
  const measured: Result[] = []
  for (const [over, runner] of pairsOf(options.over, options.runners)) {
    for (const inFlight of IN_FLIGHT) measured.push(await measureResults(options, { over, runner, inFlight }))
  }
  return measured
}

async function measureResults(
  options: BenchOptions,
  { over, runner, inFlight }: { over: Over; runner: RunnerKind; inFlight: number },
): Promise<Result> {
  const rig = await Rig.open(options, over, runner)
  const callers = new Callers(rig.origins, inFlight)
  try {
    await callers.goOn(inFlight, { runs: WARM_UP_RUNS, seconds: options.seconds })
    callers.latenciesMs = []
    const meter = new CpuMeter(rig.pids)
    const fromUs = nowUs()
    await callers.goOn(inFlight, { runs: Number.POSITIVE_INFINITY, seconds: options.seconds })
    const toUs = nowUs()
    const cpu = meter.read()
    rig.profileSpan({ fromUs, toUs })
    const count = callers.latenciesMs.length
    return {
      workload: 'RESULTS',
      title: `3 sequential steps with the result in the caller's hand, ${inFlight} in flight, over ${over}, ${runner} runner`,
      figures: {
        throughput: { 'runs/s': (count * 1e6) / (toUs - fromUs) },
        'to the result ms': { ...percentiles(callers.latenciesMs) },
        ...cpuFigures(cpu, count),
      },
      notes: [`each run is one request, POST ${PATH}, and no other`],
      problems: callers.problems,
      profiles: await rig.stopEngine(),
    }
  } finally {
    await callers.close()
    await rig.close()
  }
}

/** Each sends an event, takes the result out of the reply, checks it, and sends the next. */
class Callers {
  readonly #poster: EventPoster
  #n = 0
  latenciesMs: number[] = []
  readonly problems: string[] = []

  constructor(origins: readonly string[], inFlight: number) {
    this.#poster = new EventPoster(origins, { path: PATH, connections: inFlight })
  }

  /** Lets the callers send for so many runs, or for this long, whichever is first. */
  async goOn(callers: number, until: { runs: number; seconds: number }): Promise<void> {
    const endAt = performance.now() + until.seconds * 1000
    const lastN = this.#n + until.runs
    const one = async () => {
      while (this.#n < lastN && performance.now() < endAt && this.problems.length < PROBLEMS_MAX) await this.#call()
    }
    await Promise.all(Array.from({ length: callers }, one))
  }

  close(): Promise<void> {
    return this.#poster.close()
  }

  async #call(): Promise<void> {
    const n = ++this.#n
    const from = performance.now()
    const event = { name: SEQUENCE_3.name, app: BENCH_APP, data: { n } }
    const reply = await this.#poster.send<{ run?: { status: string; result: unknown } }>(event)
    this.latenciesMs.push(performance.now() - from)
    if (reply.run?.status === 'succeeded' && isDeepStrictEqual(reply.run.result, expectedResult(SEQUENCE_3, n))) return
    this.problems.push(`run ${n} was answered with ${JSON.stringify(reply)}`)
  }
}
