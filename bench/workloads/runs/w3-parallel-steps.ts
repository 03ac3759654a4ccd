// W3: runs of fifty parallel steps, answered in one pass: one 206 with 50 opcodes, one commit with 50 steps.

import type { Result } from '../../report/report.ts'
import type { BenchOptions } from '../../rig/options.ts'
import { PARALLEL_50 } from '../../rig/workflows.ts'
import { measureThroughput } from './throughput.ts'

export async function w3(options: BenchOptions): Promise<Result[]> {
  const results: Result[] = []
  for (const over of options.over) {
    const title = `50 parallel steps in one pass, 50 runs in flight, over ${over}`
    const what = { workload: 'W3', title, shape: PARALLEL_50, inFlight: 50, over }
    results.push(await measureThroughput(options, what))
  }
  return results
}
