// What every policy of an event's arrival has in common: what it is told, and where it writes. The policies are in
// files of their own, their order in arrival.ts.

import type { EventSubject, Report } from '../expressions/matching.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { Change, Guard } from '../model/change.ts'
import type { Question } from '../model/decision.ts'
import type { Event, Triggered } from '../model/event.ts'
import type { Run } from '../model/run.ts'
import type { Workflow } from '../model/workflow.ts'
import type { Assumptions } from '../run/assumptions.ts'
import type { Traceparent } from '../text/traceparent.ts'

export interface ArrivalInput {
  event: Event
  /** What names this arrival however often it is decided: the event's id, or of an emitted event its step's. */
  origin: string
  subject: EventSubject
  workflow: Workflow
  pin?: string | undefined
  /** Of the event: the run it starts goes on in it. */
  trace?: Traceparent | undefined
  catalog: CatalogView
  assumptions: Assumptions
  drafted: Drafted
  /** Runs that the event has asked to cancel: they count as ended. */
  cancelled: ReadonlySet<string>
  now: number
  report: Report
}

/**
 * What the unit in the making holds already: an event emitted later in the same pass meets its runs as if they were
 * durable. (Its flow-control rows are in what is known: `noteWritten`.)
 */
export interface Drafted {
  changes: readonly Change[]
  /** The run that emits; `cancelRequested` once an event of its own has cancelled it. */
  self?: Readonly<Run>
}

/** What a policy says: nothing (the next one is asked), or what becomes of the event instead of a run. */
export type PolicyResult = Partial<
  Pick<Triggered, 'skipped' | 'dropped' | 'debounced' | 'batched' | 'deduped'>
>

export interface Arrival {
  entry: Triggered
  guards: Guard[]
  changes: Change[]
  /** What must be known before this can be decided: if there is anything, all else of the arrival is void. */
  questions: Question[]
  /** Runs that the unit has created, and that the event cancels: they must be created with the request to cancel. */
  cancelledAtBirth: string[]
  /** The singleton key of the run that the event leads to, if its workflow has one. */
  singletonKey?: string
  /** The event cancels the very run that emits it. */
  cancelsSelf?: true
}

/**
 * A policy: it may write guards and changes into `arrival`, and ends the arrival by answering a verdict (an empty one
 * after it has asked for something).
 */
export type Policy = (input: ArrivalInput, arrival: Arrival) => PolicyResult | undefined

/** The event starts this run. */
export function startRun(arrival: Arrival, run: Run): void {
  arrival.changes.push({ type: 'run.created', run })
  arrival.entry.runId = run.id
}
