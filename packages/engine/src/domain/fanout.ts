// What an event does: it wakes the steps that wait for it and starts a run of every workflow it triggers
// (contract §4.4, §6). One decision for posted and emitted events, so that they can never differ.

import type { CatalogView } from './catalog.ts'
import type { Change, Guard, StepWoken } from './change.ts'
import { invariant } from './errors.ts'
import type { Event, Triggered, Waiter } from './event.ts'
import { arrive } from './flow/arrival.ts'
import type { JsonText } from './json-text.ts'
import type { Known } from './known.ts'
import { EventSubject, isTriggered, type Report, verdictOf } from './matching.ts'

export interface Fanout {
  guards: Guard[]
  /** The event's log row and the runs it starts; not the wakes, since a run may be woken by its own event. */
  changes: Change[]
  wakes: StepWoken[]
  woke: number
  triggered: Triggered[]
  /** The namespace is suspended: nothing was triggered for that reason. */
  suspended: boolean
}

export interface FanoutInput {
  /** The event, without `woke` and `triggered`. */
  event: Omit<Event, 'woke' | 'triggered'>
  targetApp?: string | undefined
  pin?: string | undefined
  catalog: CatalogView
  /** Who waits for this event name, and the flow-control state it meets. */
  known: Known
  /** Of those, the ones (by `waiterKey`) that an earlier event of the same unit has woken. */
  spent?: ReadonlySet<string>
  /** Told of filters that could not be evaluated. */
  report: Report
  /** When this is decided, if later than the event arrived: a wait may have begun in between. */
  now?: number
}

export function waiterKey(waiter: { runId: string; stepIndex: number }): string {
  return `${waiter.runId}#${waiter.stepIndex}`
}

export function fanout(input: FanoutInput): Fanout {
  const { known, spent, report, now = input.event.receivedAt } = input
  const waiters = known.waiters.get(input.event.name) ?? []
  const event: Event = { ...input.event, woke: 0, triggered: [] }
  const subject = new EventSubject(event)
  const woken = oldestPerRun(
    waiters.filter(waiter => !spent?.has(waiterKey(waiter)) && isAwaited(waiter, subject, report)),
  )
  const data = woken.length === 0 ? undefined : eventResult(event)
  const wakes = woken.map(
    (waiter): StepWoken => ({
      type: 'step.woken',
      runId: waiter.runId,
      stepIndex: waiter.stepIndex,
      status: 'succeeded',
      ...(data === undefined ? {} : { data }),
      eventId: event.id,
      at: now,
    }),
  )
  const changes: Change[] = [{ type: 'event.recorded', event }]
  const guards: Guard[] = [{ type: 'waiters', namespace: event.namespace, eventName: event.name, waiters }]
  for (const workflow of scoped(input)) {
    if (!isTriggered(workflow, subject, event.name, report)) continue
    const arrival = arrive({ event, subject, workflow, pin: input.pin, known, now, report })
    guards.push(...arrival.guards)
    changes.push(...arrival.changes)
    event.triggered.push(arrival.entry)
  }
  event.woke = woken.length
  const { suspended } = input.catalog
  return { guards, changes, wakes, woke: event.woke, triggered: event.triggered, suspended }
}

/** The result of a wait that this event settles: `{id, name, data, receivedAt}` (decisions, "Step record"). */
export function eventResult(event: Pick<Event, 'id' | 'name' | 'data' | 'receivedAt'>): JsonText {
  const data = event.data === undefined ? '' : `,"data":${event.data}`
  const receivedAt = new Date(event.receivedAt).toISOString()
  return `{"id":"${event.id}","name":${JSON.stringify(event.name)}${data},"receivedAt":"${receivedAt}"}`
}

/** With `targetApp` only that app's triggers are considered, else with `app` only that app's (decisions, "Events"). */
function scoped(input: FanoutInput) {
  if (input.catalog.suspended) return []
  const scope = input.targetApp ?? (input.event.source === 'api' ? input.event.app : undefined)
  const all = input.catalog.triggeredBy(input.event.name)
  return scope === undefined ? all : all.filter(workflow => workflow.app === scope)
}

/** Whether the event is the one that the wait is for. */
function isAwaited(waiter: Waiter, arrived: EventSubject, report: Report): boolean {
  const { condition } = waiter
  if (condition === undefined) return true
  const begun = new EventSubject(condition.trigger)
  const verdict = verdictOf(condition.filter, { event: begun.subject, async: arrived.subject })
  if (verdict.ok) return verdict.value
  const { runId, stepIndex } = waiter
  report({ of: { runId, stepIndex }, filter: condition.filter, error: verdict.error })
  return false
}

/** One event settles one wait of a run: the one that was parked first. */
function oldestPerRun(waiters: readonly Waiter[]): Waiter[] {
  const taken = new Map<string, Waiter>()
  for (const waiter of waiters) {
    const other = taken.get(waiter.runId)
    if (!other) taken.set(waiter.runId, waiter)
    else invariant(other.since <= waiter.since, 'waiters come oldest first')
  }
  return [...taken.values()]
}
