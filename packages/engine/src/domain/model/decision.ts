// The result of a decision about one run: the unit to commit, and the state that the run's owner applies after the commit.

import type { Unit } from './change.ts'
import type { InboxRead } from './event.ts'
import type { Run } from './run.ts'
import type { Step } from './step.ts'

/** A unit, and the questions to answer before it can be decided. If there are any, the rest is void. */
export interface DecidedUnit extends Unit {
  questions?: readonly Question[]
}

/** The same while it is being decided. */
export interface UnitWithQuestions extends Unit {
  questions: Question[]
}

export interface Decision extends DecidedUnit {
  questions: readonly Question[]
  run: Run
  /** Every step that the decision recorded or moved, in order. */
  steps: Step[]
  seq: number
  rootLogged: number
}

/** The owner's next action once the decision is durable: send the next pass, or stop driving the run. */
export type Next = 'pass' | 'stop'

/** A decision on a run under way, and whether another pass follows it at once. */
export interface PassDecision {
  decision: Decision
  next: Next
}

/** A fact that a decision needs and cannot assume. The service adds the answer to `Assumptions` and decides again. */
export type Question =
  /** The waits, or the watches, for an event name that have the key of a match. */
  | { type: 'matched'; kind: 'waiters' | 'watchers'; namespace: string; eventName: string; matchKey: string }
  | { type: 'flow'; id: string }
  | { type: 'run'; runId: string }
  /** The newest run of the chain of a run of the namespace. */
  | { type: 'newest'; namespace: string; runId: string }
  /** The lines of the budgets. */
  | { type: 'budgets'; ids: readonly string[] }
  /** The inbox of the run, without the events that it was given. The answer is stored in the state. */
  | { type: 'inbox'; state: { inbox?: InboxRead | undefined }; id: string; given: ReadonlySet<string> }
  /** A token from the limiter for the arrival `of`. */
  | { type: 'take'; of: string; quota: { key: string; limit: number; periodMs: number; now: number } }
