// GROWTH: W1 from an empty store until `--listed` runs are in it: what a run costs, and how much of it stays on disk, as the
// store grows.

import { ClosedLoop } from '../../load/closed-loop.ts'
import { expectation, verify } from '../../load/verify.ts'
import { CpuMeter } from '../../measure/cpu-meter.ts'
import { percentiles } from '../../measure/latency.ts'
import { residentBytes } from '../../measure/proc.ts'
import { cpuFigures, type Figures, type Result } from '../../report/report.ts'
import type { BenchOptions } from '../../rig/options.ts'
import { Rig } from '../../rig/rig.ts'
import { SEQUENCE_3 } from '../../rig/workflows.ts'

const IN_FLIGHT = 100
const WARM_UP_RUNS = 3000
/** Shares of `--listed` at which W1 is measured for the length of a window. */
const STAGES = [0, 0.1, 0.25, 0.5, 1]
const STALLED_MS = 60_000

export async function growth(options: BenchOptions): Promise<Result[]> {
  const rig = await Rig.open({ ...options, engines: 1 }, 'connect')
  try {
    const emptyBytes = rig.diskBytes
    const loop = new ClosedLoop({ origin: rig.origins, runner: rig.runner, shape: SEQUENCE_3, inFlight: IN_FLIGHT })
    const figures: Record<string, Figures> = {}
    for (const share of STAGES) {
      await until(loop, Math.max(WARM_UP_RUNS, share * options.listed))
      const meter = new CpuMeter({ engine: rig.engine.pid })
      const window = await loop.measure(options.seconds)
      const stored = Math.round(loop.left)
      const { 'cpu engine': cpu = {} } = cpuFigures(meter.read(), window.runs)
      figures[`${stored.toLocaleString('en-US')} runs`] = {
        'runs/s': window.runs / window.seconds,
        'p50 ms': percentiles(window.latenciesMs).p50,
        'p99 ms': percentiles(window.latenciesMs).p99,
        'us/run of the engine': cpu['us/run'] ?? Number.NaN,
        'MB resident': (residentBytes(rig.engine.pid) ?? Number.NaN) / 1e6,
        ...(options.store === undefined && { 'bytes/run on disk': (rig.diskBytes - emptyBytes) / stored }),
      }
    }
    await loop.stop()
    const problems = [...loop.problems, ...(await verify(rig.engine.origin, [expectation(SEQUENCE_3, loop)]))]
    return [
      {
        workload: 'GROWTH',
        title: `W1 over connect while the store grows to ${options.listed.toLocaleString('en-US')} runs`,
        figures,
        notes: ['bytes on disk: the database and its write-ahead log'],
        problems,
        profiles: await rig.stopEngine(),
      },
    ]
  } finally {
    await rig.close()
  }
}

/** Waits until so many runs have left the loop. Throws when none has for a minute. */
async function until(loop: ClosedLoop, runs: number): Promise<void> {
  let [last, since] = [loop.left, performance.now()]
  while (loop.left < runs) {
    await new Promise(resolve => setTimeout(resolve, 50))
    if (loop.left > last) [last, since] = [loop.left, performance.now()]
    else if (performance.now() - since > STALLED_MS) throw new Error(`the load stands still at ${last} runs`)
  }
}
