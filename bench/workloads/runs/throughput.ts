// The shared code of W1 and W3: a closed loop against the engine, its checks, and the transport's ceiling right after
// it.

import { measureCeiling } from '../../ceiling/ceiling.ts'
import { ClosedLoop } from '../../load/closed-loop.ts'
import { expectation, verify } from '../../load/verify.ts'
import { CpuMeter } from '../../measure/cpu-meter.ts'
import { percentiles } from '../../measure/latency.ts'
import { ceilingFigures, cpuFigures, type Result } from '../../report/report.ts'
import type { BenchOptions, Over, RunnerKind } from '../../rig/options.ts'
import { Rig } from '../../rig/rig.ts'
import { memosOfPasses, type Shape } from '../../rig/workflows.ts'

/** An engine is warm, its code compiled, after this many runs, or on a slow machine after this long. */
const WARM_UP_RUNS = 3000
const WARM_UP_SECONDS_MAX = 10

interface Throughput {
  workload: string
  title: string
  shape: Shape
  inFlight: number
  over: Over
  /** Default: the bench's own. */
  runner?: RunnerKind
  /** Default: 3,000. */
  warmUpRuns?: number
}

export async function measureThroughput(options: BenchOptions, what: Throughput): Promise<Result> {
  const { shape, inFlight, over, runner = 'bare' } = what
  const rig = await Rig.open(options, over, runner)
  try {
    const loop = new ClosedLoop({ origin: rig.origins, runner: rig.runner, shape, inFlight })
    await warmUp(loop, options, what.warmUpRuns)
    const meter = new CpuMeter(rig.pids)
    const window = await loop.measure(options.seconds)
    const cpu = meter.read()
    rig.profileSpan(window)
    await loop.stop()
    const { passes, failed } = await rig.runner.counted()
    const problems = [...loop.problems, ...(await verify(rig.engine.origin, [expectation(shape, loop)]))]
    if (failed > 0) problems.push(`the runner refused ${failed} invokes whose memo was wrong`)
    const profiles = await rig.stopEngine()
    const seconds = options.seconds / 3
    const ceiling = runner === 'bare' && (await measureCeiling({ runner: rig.runner, shape, inFlight, seconds, over }))
    const passesPerRun = over === 'checkpoints' ? 1 : memosOfPasses(shape, 0).length
    const runsPerS = window.runs / window.seconds
    const rate = { runsPerS, invokesPerS: runsPerS * memosOfPasses(shape, 0).length }
    return {
      workload: what.workload,
      title: what.title,
      figures: {
        throughput: {
          'runs/s': runsPerS,
          'steps/s': runsPerS * shape.steps.length,
          // With checkpoints, an exchange is a checkpoint or the run's only invoke.
          ...(runner === 'bare' && { 'exchanges/s': rate.invokesPerS }),
        },
        'latency ms': { ...percentiles(window.latenciesMs) },
        counted: {
          'runs in window': window.runs,
          'runs in all': loop.accepted,
          ...(runner === 'bare' && { 'passes repeated': passes - loop.accepted * passesPerRun }),
          'passes/run': passes / loop.accepted,
          'answers 503': loop.refused,
        },
        ...cpuFigures(cpu, window.runs),
        ...(ceiling && ceilingFigures(ceiling, rate)),
      },
      notes: [],
      problems,
      profiles,
    }
  } finally {
    await rig.close()
  }
}

/** No longer than the window itself: with a short window the figures are a trial anyway. */
async function warmUp(loop: ClosedLoop, { seconds, engines }: BenchOptions, runs = WARM_UP_RUNS): Promise<void> {
  const endAt = performance.now() + Math.min(seconds, WARM_UP_SECONDS_MAX) * engines * 1000
  do await loop.measure(0.2)
  while (loop.left < runs * engines && performance.now() < endAt)
}
