// W1: runs of three steps, one after the other, with 100 and with 300 of them in flight.

import type { Result } from '../../report/report.ts'
import { type BenchOptions, pairsOf } from '../../rig/options.ts'
import { SEQUENCE_3 } from '../../rig/workflows.ts'
import { measureThroughput } from './throughput.ts'

export async function w1(options: BenchOptions): Promise<Result[]> {
  const results: Result[] = []
  for (const [over, runner] of pairsOf(options.over, options.runners)) {
    for (const inFlight of options.inFlight) {
      const title = `3 sequential steps, ${inFlight} runs in flight, over ${over}, ${runner} runner`
      const what = { workload: 'W1', title, shape: SEQUENCE_3, inFlight, over, runner }
      results.push(await measureThroughput(options, what))
    }
  }
  return results
}
