// The arrival of an event at one workflow that it triggers: what its policies read, and what they write. Each policy has its
// own file; trigger-workflow.ts defines their order.

import type { EventSubject } from '../expressions/event-subject.ts'
import { type DroppingPolicy, dropKeyOf, type Report } from '../expressions/matching.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { UnitWithQuestions } from '../model/decision.ts'
import type { Carried, Event, Triggered } from '../model/event.ts'
import type { Run } from '../model/run.ts'
import type { Workflow } from '../model/workflow.ts'
import type { Assumptions } from '../run/assumptions.ts'
import type { Drafted } from './live/live-runs.ts'

export interface ArrivalInput extends Carried {
  event: Event
  /** A name that stays the same when the event is decided again: the event's id, or for an emitted event the id of its step. */
  origin: string
  subject: EventSubject
  workflow: Workflow
  catalog: CatalogView
  assumptions: Assumptions
  drafted: Drafted
  /** Runs that the event itself cancels by `cancelOn`; they count as ended. */
  cancelled: ReadonlySet<string>
  now: number
  report: Report
}

/** The flags of an event that a policy keeps from starting a run at once. */
export const POLICY_FLAGS = ['delivered', 'skipped', 'dropped', 'debounced', 'batched', 'deduped'] as const
type PolicyResult = Partial<Pick<Triggered, (typeof POLICY_FLAGS)[number] | 'liveRunId' | 'repeatOf'>>

export interface Arrival extends UnitWithQuestions {
  entry: Triggered
  /** Runs that the unit creates and the event cancels: they must be created with the request to cancel. */
  cancelledAtBirth: string[]
  /** Names the policies that do not apply to the event because their key cannot be evaluated. */
  warnings: string[]
  /** The singleton key of the run that the event starts, if its workflow has the policy. */
  singletonKey?: string
  /** The event cancels the run that emits it. */
  cancelsSelf?: true
}

/**
 * A policy. It may add guards, changes and questions to `arrival`. Undefined lets the event through to the next policy; any
 * result ends the arrival; it is empty after a question or a start.
 */
export type Policy = (input: ArrivalInput, arrival: Arrival) => PolicyResult | undefined

/** The key of a policy that may drop the event; undefined, with a warning, if the policy does not apply to the event. */
export function dropKey(
  policy: DroppingPolicy,
  source: string | undefined,
  { input, arrival }: { input: ArrivalInput; arrival: Arrival },
): string | undefined {
  const { subject, workflow, report } = input
  return dropKeyOf(policy, source, {
    subject,
    workflow,
    report(fault) {
      report(fault)
      const { name, app } = workflow
      const of = `workflow ${JSON.stringify(name)} of app ${JSON.stringify(app)}`
      arrival.warnings.push(`${of}: ${policy} does not apply to this event, because of its key: ${fault.error}`)
    },
  })
}

/** Lets the event start the run. */
export function startRun(arrival: Arrival, run: Run): void {
  arrival.changes.push({ type: 'run.created', run })
  arrival.entry.runId = run.id
}
