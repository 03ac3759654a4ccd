// F1: the cost of a keyed concurrency limit. Runs of three steps, in turns without a limit and with one on each of
// 1,000 keys, on one engine, so that both use the same machine and the same database.

import { ClosedLoop } from '../load/closed-loop.ts'
import { type Expected, expectation, verify } from '../load/verify.ts'
import { CpuMeter } from '../measure/cpu-meter.ts'
import { percentiles } from '../measure/latency.ts'
import type { Figures, Result } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { Rig } from '../rig/rig.ts'
import { LIMITED_3, SEQUENCE_3, type Shape } from '../rig/workflows.ts'

const ROUNDS = 4
const WARM_UP_SECONDS = 3

interface Measured {
  runsPerS: number[]
  latenciesMs: number[]
  /** CPU of the engine's process. */
  engineSeconds: number
}

export async function f1(options: BenchOptions): Promise<Result[]> {
  const inFlight = options.inFlight[0] as number
  const rig = await Rig.open(options)
  const problems: string[] = []
  const expected = new Map<Shape, Expected>()
  const measured = new Map<Shape, Measured>()

  /** Keeps runs in flight for this long, then waits until none is left. */
  async function play(shape: Shape, seconds: number) {
    const loop = new ClosedLoop({ origin: rig.engine.origin, runner: rig.runner, shape, inFlight })
    const window = await loop.measure(seconds)
    await loop.stop()
    problems.push(...loop.problems)
    const { accepted, samples } = expectation(shape, loop)
    const before = expected.get(shape)
    expected.set(shape, {
      shape,
      accepted: accepted + (before?.accepted ?? 0),
      samples: new Map([...(before?.samples ?? []), ...samples]),
    })
    return window
  }

  try {
    const shapes = [SEQUENCE_3, LIMITED_3]
    for (const shape of shapes) {
      measured.set(shape, { runsPerS: [], latenciesMs: [], engineSeconds: 0 })
      await play(shape, WARM_UP_SECONDS)
    }
    for (let round = 0; round < ROUNDS; round++) {
      for (const shape of shapes) {
        const own = measured.get(shape) as Measured
        const meter = new CpuMeter(rig.pids)
        const { runs, seconds, latenciesMs } = await play(shape, options.seconds / ROUNDS)
        own.engineSeconds += meter.read().shares.find(({ process }) => process === 'engine')?.seconds ?? 0
        own.runsPerS.push(runs / seconds)
        own.latenciesMs.push(...latenciesMs)
      }
    }
    problems.push(...(await verify(rig.engine.origin, [...expected.values()])))
    const [free, limited] = shapes.map(shape => measured.get(shape) as Measured) as [Measured, Measured]
    const ratios = limited.runsPerS.map((rate, i) => rate / (free.runsPerS[i] as number))
    return [
      {
        workload: 'F1',
        title: `3 sequential steps, a concurrency limit on each of 1,000 keys, ${inFlight} runs in flight`,
        figures: {
          'without a limit': figuresOf(free),
          'with it': figuresOf(limited),
          'with to without': { ratio: mean(ratios), least: Math.min(...ratios), most: Math.max(...ratios) },
        },
        notes: [`${ROUNDS} turns of each`],
        problems,
        profiles: await rig.stopEngine(),
      },
    ]
  } finally {
    await rig.close()
  }
}

function figuresOf({ runsPerS, latenciesMs, engineSeconds }: Measured): Figures {
  const usPerRun = (engineSeconds * 1e6) / latenciesMs.length
  return { 'runs/s': mean(runsPerS), 'engine us/run': usPerRun, ...percentiles(latenciesMs) }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
