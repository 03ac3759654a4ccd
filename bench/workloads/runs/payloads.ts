// PAYLOADS: runs of one step whose event and result are large: 10, 100 and 500 KB each. Every payload is stored once, and
// the event's goes to the runner with each invoke.

import type { Result } from '../../report/report.ts'
import { type BenchOptions, pairsOf } from '../../rig/options.ts'
import { PAYLOADS } from '../../rig/workflows.ts'
import { measureThroughput } from './throughput.ts'

/** Payloads under way at a time stay below what an engine accepts at once. */
const IN_FLIGHT = 20

export async function payloads(options: BenchOptions): Promise<Result[]> {
  const results: Result[] = []
  for (const [over, shape] of pairsOf(options.over, PAYLOADS)) {
    const title = `an event and a step's result of ${(shape.padBytes ?? 0) / 1000} KB, ${IN_FLIGHT} runs in flight, over ${over}`
    const what = {
      workload: 'PAYLOADS',
      title,
      shape,
      inFlight: IN_FLIGHT,
      over,
      runner: 'sdk' as const,
      warmUpRuns: 300,
    }
    const result = await measureThroughput(options, what)
    const runsPerS = result.figures.throughput?.['runs/s'] ?? Number.NaN
    result.figures.payloads = { 'MB/s stored': (runsPerS * 2 * (shape.padBytes ?? 0)) / 1e6 }
    results.push(result)
  }
  return results
}
