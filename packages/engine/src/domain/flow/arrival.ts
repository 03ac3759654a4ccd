// What becomes of an event that has met a workflow's trigger: the policies in their order, and a run if all of them let
// it through (decisions, "Flow control at registration": idempotency, rateLimit, singleton, debounce, batch, create).

import type { Change, Guard } from '../change.ts'
import type { Event, Triggered } from '../event.ts'
import type { Known } from '../known.ts'
import type { EventSubject, Report } from '../matching.ts'
import { eventRun } from '../new-run.ts'
import type { Run } from '../run.ts'
import type { Workflow } from '../workflow.ts'

export interface ArrivalInput {
  event: Event
  subject: EventSubject
  workflow: Workflow
  pin?: string | undefined
  known: Known
  now: number
  report: Report
}

/** What a policy says: nothing (the next one is asked), or what becomes of the event instead of a run. */
export type Verdict = Partial<Pick<Triggered, 'skipped' | 'dropped' | 'debounced' | 'batched' | 'deduped'>>

export interface Arrival {
  entry: Triggered
  guards: Guard[]
  changes: Change[]
}

/** A policy: it may write guards and changes into `arrival`, and ends the arrival by answering a verdict. */
export type Policy = (input: ArrivalInput, arrival: Arrival) => Verdict | undefined

/** In the order in which they are asked. Each does nothing for a workflow that has not registered it. */
const POLICIES: readonly Policy[] = []

export function arrive(input: ArrivalInput): Arrival {
  const { event, workflow, pin } = input
  const arrival: Arrival = { entry: { workflow: workflow.name, app: workflow.app }, guards: [], changes: [] }
  for (const policy of POLICIES) {
    const verdict = policy(input, arrival)
    if (verdict) {
      Object.assign(arrival.entry, verdict)
      return arrival
    }
  }
  start(arrival, eventRun({ event, workflow, pin }))
  return arrival
}

/** The event starts this run. */
export function start(arrival: Arrival, run: Run): void {
  arrival.changes.push({ type: 'run.created', run })
  arrival.entry.runId = run.id
}
