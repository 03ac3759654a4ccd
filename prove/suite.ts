// The interface of a suite: it drives the engine into one kind of trouble, compares ledgers with what the engine
// reports, and answers counts and differences. `main.ts` runs suites and prints their verdicts.

import type { Seeded } from '../test/kit/seeded.ts'

export interface Order {
  /** How often the trouble happens; in seconds for suites whose unit is seconds. */
  count: number
  seed: number
  random: Seeded
}

export interface Finding {
  /** Counts of what was done and compared, for the table: `{ kills: 1000, acknowledged: 8012 }`. */
  counts: Readonly<Record<string, number>>
  /** Differences in words. Without any the promise held. */
  problems: readonly string[]
  /** Parts that this machine cannot run, each with the reason. */
  skipped?: readonly string[]
}

export interface Suite {
  /** The promises that the suite checks, in a few words for the table. */
  proves: string
  /** The word for one of the count: `kills`, `seconds`. */
  unit: string
  /** The counts of `--quick` and of a night. */
  counts: { quick: number; full: number }
  /** The longest that a run may take, in ms: a fixed part, and a part for each of the count. */
  deadlineMs: { base: number; each: number }
  run(order: Order): Promise<Finding>
}
