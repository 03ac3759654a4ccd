// What an event does: it wakes the steps that wait for it and starts a run of every workflow it triggers
// (contract §4.4, §6). One decision for posted and emitted events, so that they can never differ.

import type { CatalogView } from './catalog.ts'
import type { Change, Guard, StepWoken } from './change.ts'
import { invariant } from './errors.ts'
import type { Event, Triggered, Waiter } from './event.ts'
import type { JsonText } from './json-text.ts'
import { eventRun } from './new-run.ts'

export interface Fanout {
  guards: Guard[]
  /** The event's log row and the runs it starts; not the wakes, since a run may be woken by its own event. */
  changes: Change[]
  wakes: StepWoken[]
  woke: number
  triggered: Triggered[]
}

export interface FanoutInput {
  /** The event, without `woke` and `triggered`. */
  event: Omit<Event, 'woke' | 'triggered'>
  targetApp?: string | undefined
  pin?: string | undefined
  catalog: CatalogView
  /** Every step that waits for this event name, oldest first. */
  waiters: readonly Waiter[]
  /** Of those, the ones (by `waiterKey`) that an earlier event of the same unit has woken. */
  spent?: ReadonlySet<string>
  /** When this is decided, if later than the event arrived: a wait may have begun in between. */
  now?: number
}

export function waiterKey(waiter: { runId: string; stepIndex: number }): string {
  return `${waiter.runId}#${waiter.stepIndex}`
}

export function fanout(input: FanoutInput): Fanout {
  const { waiters, spent } = input
  const event: Event = { ...input.event, woke: 0, triggered: [] }
  const woken = oldestPerRun(spent ? waiters.filter(waiter => !spent.has(waiterKey(waiter))) : waiters)
  const data = woken.length === 0 ? undefined : eventResult(event)
  const wakes = woken.map(
    (waiter): StepWoken => ({
      type: 'step.woken',
      runId: waiter.runId,
      stepIndex: waiter.stepIndex,
      status: 'succeeded',
      ...(data === undefined ? {} : { data }),
      eventId: event.id,
      at: input.now ?? event.receivedAt,
    }),
  )
  const changes: Change[] = [{ type: 'event.recorded', event }]
  for (const workflow of matching(input)) {
    const run = eventRun({ event, workflow, pin: input.pin })
    changes.push({ type: 'run.created', run })
    event.triggered.push({ workflow: workflow.name, app: workflow.app, runId: run.id })
  }
  event.woke = woken.length
  const guard: Guard = { type: 'waiters', namespace: event.namespace, eventName: event.name, waiters }
  return { guards: [guard], changes, wakes, woke: event.woke, triggered: event.triggered }
}

/** The result of a wait that this event settles: `{id, name, data, receivedAt}` (decisions, "Step record"). */
export function eventResult(event: Pick<Event, 'id' | 'name' | 'data' | 'receivedAt'>): JsonText {
  const data = event.data === undefined ? '' : `,"data":${event.data}`
  const receivedAt = new Date(event.receivedAt).toISOString()
  return `{"id":"${event.id}","name":${JSON.stringify(event.name)}${data},"receivedAt":"${receivedAt}"}`
}

/** With `targetApp` only that app's triggers are considered, else with `app` only that app's (decisions, "Events"). */
function matching(input: FanoutInput) {
  const scope = input.targetApp ?? (input.event.source === 'api' ? input.event.app : undefined)
  const all = input.catalog.triggeredBy(input.event.name)
  return scope === undefined ? all : all.filter(workflow => workflow.app === scope)
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
