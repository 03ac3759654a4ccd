// `sim`: the real engine in one process under a virtual clock and a seed, with faults of store, network and runners. Every
// promise is checked for every seed, and a seed repeats itself exactly.

import { shrink, simulate } from '../../test/sim/core/simulate.ts'
import type { Finding, Order, Suite } from '../suite.ts'

const NOTHING_OFF: ReadonlySet<string> = new Set()
/** One in this many seeds is run twice, and the two traces are compared. */
const REPEATED_EVERY = 20
/** Each failure is shrunk, which takes many runs. */
const FAILURES_MAX = 5

export const sim: Suite = {
  proves: 'seeded histories with crashes, stalls and lost answers: every promise; one seed, one trace',
  unit: 'seeds',
  counts: { quick: 40, full: 10_000 },
  deadlineMs: { base: 60_000, each: 2000 },
  run: simulateSeeds,
}

async function simulateSeeds({ count, seed: first }: Order): Promise<Finding> {
  const problems: string[] = []
  const counts = { seeds: 0, 'seeds repeated': 0, runs: 0, passes: 0 }
  for (let seed = first; seed < first + count && problems.length < FAILURES_MAX; seed++) {
    const options = { seed, off: NOTHING_OFF }
    const verdict = await simulate(options)
    counts.seeds++
    counts.runs += verdict.runs
    counts.passes += verdict.passes
    if (verdict.failure) {
      const { off } = await shrink(options, verdict)
      problems.push(
        `seed ${seed}: ${verdict.failure.violation.message}; the same without ${[...off].join(' ') || 'less'}`,
      )
    }
    if (seed % REPEATED_EVERY !== 0) continue
    counts['seeds repeated']++
    const { digest } = await simulate(options)
    if (digest !== verdict.digest) problems.push(`seed ${seed} has two traces: ${verdict.digest} and ${digest}`)
  }
  return { counts, problems }
}
