// The interface of a suite: it puts the engine into one kind of trouble, compares ledgers with the engine's reports, and returns
// counts and differences. `main.ts` runs suites and prints their verdicts.

import type { Seeded } from '../test/kit/seeded.ts'

export interface Order {
  /** How often the trouble happens; in seconds for suites whose unit is seconds. */
  count: number
  seed: number
  random: Seeded
}

export interface Finding {
  /** Counts of actions and comparisons, for the table: `{ kills: 1000, acknowledged: 8012 }`. */
  counts: Readonly<Record<string, number>>
  /** Differences in words. If there are none, the promise held. */
  problems: readonly string[]
  /** Parts that this machine cannot run, each with the reason. */
  skipped?: readonly string[]
}

export interface Suite {
  /** The promises that the suite checks, in a few words for the table. */
  proves: string
  /** The unit of the count: `kills`, `seconds`. */
  unit: string
  /** The counts of `--quick` and of a night. */
  counts: { quick: number; full: number }
  /** Maximum duration of a run, in ms: a fixed part, and a part for each unit of the count. */
  deadlineMs: { base: number; each: number }
  run(order: Order): Promise<Finding>
}
