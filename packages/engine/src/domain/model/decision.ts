// What a decision about one run came to. Pure data: the unit to commit, and what its owner takes over afterwards.

import type { Change, Guard } from './change.ts'
import type { Run } from './run.ts'
import type { Step } from './step.ts'

/** What a decision came to: a unit to commit, and what the deciding owner takes over once it is durable. */
export interface Decision {
  /** What must be known first: if there is anything, all else is void. */
  questions: readonly Question[]
  guards: Guard[]
  changes: Change[]
  run: Run
  /** Every step recorded or moved. */
  steps: Step[]
  seq: number
  rootLogged: number
}

/** What the owner does once the decision is durable: send the next pass, or let the run go. */
export type Next = 'pass' | 'stop'

/** What a decision must know, and cannot assume, before it can be made. Answered into `Known`, it decides again. */
export type Question =
  | { type: 'flow'; id: string }
  | { type: 'run'; runId: string }
  /** A token of the limiter's, for the arrival `of`. */
  | { type: 'take'; of: string; quota: { key: string; limit: number; periodMs: number; now: number } }
