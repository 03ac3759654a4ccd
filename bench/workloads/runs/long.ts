// LONG: one run of very many sequential steps: the cost of a step when the memo is long.

import { EventPoster } from '../../load/event-poster.ts'
import { RunStreams } from '../../load/run-stream.ts'
import { verify } from '../../load/verify.ts'
import { nowUs } from '../../measure/profile.ts'
import type { Result } from '../../report/report.ts'
import { type BenchOptions, type Over, pairsOf, type RunnerKind } from '../../rig/options.ts'
import { Rig } from '../../rig/rig.ts'
import { BENCH_APP, SEQUENCE_1000, SEQUENCE_10000, type Shape } from '../../rig/workflows.ts'

/** Number of runs after which the engine is warm: its code is compiled. */
const WARM_UP_RUNS = 3
const MEASURED_RUNS = 5

export async function long(options: BenchOptions): Promise<Result[]> {
  const results: Result[] = []
  for (const [over, runner] of pairsOf(options.over, options.runners)) {
    // Without checkpoints, each of the 10,000 invokes would carry the whole memo. The SDK's runner has them over HTTP too.
    const hasCheckpoints = over === 'checkpoints' || (over === 'http' && runner === 'sdk')
    const shapes = hasCheckpoints ? [SEQUENCE_1000, SEQUENCE_10000] : [SEQUENCE_1000]
    for (const shape of shapes) results.push(await measureLong(options, { over, runner, shape }))
  }
  return results
}

async function measureLong(
  options: BenchOptions,
  { over, runner, shape }: { over: Over; runner: RunnerKind; shape: Shape },
): Promise<Result> {
  const rig = await Rig.open(options, over, runner)
  const poster = new EventPoster(rig.engine.origin)
  const streams = new RunStreams(rig.engine.origin)
  try {
    const samples = new Map<number, string>()
    const one = async () => {
      const n = samples.size + 1
      const from = performance.now()
      const { runId } = await poster.send({ name: shape.name, app: BENCH_APP, data: { n } })
      samples.set(n, runId)
      return (await streams.untilSucceeded(runId)) - from
    }
    for (let i = 0; i < WARM_UP_RUNS; i++) await one()
    const fromUs = nowUs()
    const tookMs: number[] = []
    for (let i = 0; i < MEASURED_RUNS; i++) tookMs.push(await one())
    rig.profileSpan({ fromUs, toUs: nowUs() })
    await Promise.all([poster.close(), streams.close()])
    const problems = await verify(rig.engine.origin, [{ shape, accepted: samples.size, samples }])
    const profiles = await rig.stopEngine()
    const median = tookMs.sort((a, b) => a - b)[MEASURED_RUNS >> 1] as number
    return {
      workload: 'LONG',
      title: `one run of ${shape.steps.length} steps, one after the other, over ${over}, ${runner} runner`,
      figures: {
        'to stored result': { 'median s': median / 1000, 'ms a step': median / shape.steps.length },
      },
      notes: ["the run's event stream is read during the measurement"],
      problems,
      profiles,
    }
  } finally {
    await rig.close()
  }
}
