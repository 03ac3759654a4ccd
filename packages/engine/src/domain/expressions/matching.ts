// Evaluates expressions over events: a trigger by its name and filter (docs/events.md#triggers), the condition of a wait or of
// `cancelOn` over both the run's own event and the arrived one, and the key of a policy.

import type { UnmetTrigger, WaitCondition, Watcher } from '../model/event.ts'
import type { Trigger, Workflow } from '../model/workflow.ts'
import { boundedKey } from '../text/bounded-key.ts'
import { isEngineEvent } from '../text/name.ts'
import { type Evaluated, evaluateOnce } from './evaluations.ts'
import { EventSubject } from './event-subject.ts'
import { compiled } from './expression.ts'
import { hasValues, isMatched } from './match.ts'

/** The policies that may drop an event or merge it into another run, by a key. */
export type DroppingPolicy = 'idempotency' | 'rateLimit' | 'singleton' | 'debounce'

/**
 * An expression that could not be evaluated. A filter with this fault does not match. The key of a policy becomes '', unless
 * the fault names the policy: then the policy does not apply to the event.
 */
export interface FilterFault {
  /** The owner of the expression: a workflow (a trigger, a policy) or a run (a wait; without a step, `cancelOn`). */
  of: { app: string; workflow: string } | { runId: string; stepIndex?: number }
  filter: string
  error: string
  policy?: DroppingPolicy
}

/** Receives every fault of a decision. Services write these to the log. */
export type Report = (fault: FilterFault) => void

/**
 * Whether the name of an event trigger matches an event's name. A cron trigger matches no event, and `*` no event of the
 * engine.
 */
export function matchesEvent(trigger: Trigger, eventName: string): boolean {
  const { event } = trigger
  if (event === undefined || (isEngineEvent(eventName) && !isEngineEvent(event))) return false
  return event.endsWith('*') ? eventName.startsWith(event.slice(0, -1)) : event === eventName
}

/**
 * The first trigger for the event's name whose filter the event does not pass; undefined if the event passes one. The workflow
 * must have such a trigger. Reports each filter that cannot be evaluated.
 */
export function unmetTrigger(workflow: Workflow, subject: EventSubject, report: Report): UnmetTrigger | undefined {
  let first: UnmetTrigger | undefined
  for (const trigger of workflow.triggers) {
    if (!matchesEvent(trigger, subject.event.name)) continue
    const unmet = unmetBy(trigger, subject)
    if (!unmet) return undefined
    const { unmet: filter, error } = unmet
    if (typeof filter === 'string' && error !== undefined)
      report({ of: { app: workflow.app, workflow: workflow.name }, filter, error })
    first ??= unmet
  }
  return first
}

/** The condition of the trigger that the event does not meet. The match is checked before the filter, since it costs less. */
export function unmetBy({ event = '', if: filter, match }: Trigger, subject: EventSubject): UnmetTrigger | undefined {
  if (match !== undefined && !hasValues(match, subject)) return { event, unmet: match }
  if (filter === undefined) return undefined
  const met = evaluateCondition(filter, subject)
  if (!met.ok) return { event, unmet: filter, error: met.error }
  return met.value ? undefined : { event, unmet: filter }
}

/** Whether a run's wait or `cancelOn` accepts the arrived event. Reports a filter that cannot be evaluated. */
export function isAwaited(
  { runId, stepIndex, condition }: Watcher & { stepIndex?: number },
  arrived: EventSubject,
  report: Report,
): boolean {
  if (condition === undefined) return true
  const met = evaluateWaitCondition(condition, arrived)
  if (met.ok) return met.value
  const of = stepIndex === undefined ? { runId } : { runId, stepIndex }
  report({ of, filter: condition.filter ?? '', error: met.error })
  return false
}

/** Whether the condition of a wait, or of `cancelOn`, holds for the arrived event. Only the filter may fail to be evaluated. */
export function evaluateWaitCondition(
  { filter, match, trigger }: WaitCondition,
  arrived: EventSubject,
): Evaluated<boolean> {
  const own = new EventSubject(trigger)
  if (match !== undefined && !isMatched(match, arrived, own)) return { ok: true, value: false }
  return filter === undefined ? { ok: true, value: true } : evaluateCondition(filter, own, arrived)
}

/** Whether the condition holds. If there is an arrived event, the condition may use `async`. */
function evaluateCondition(source: string, event: EventSubject, arrived?: EventSubject): Evaluated<boolean> {
  const inWait = arrived !== undefined
  return evaluateOnce({ source, use: 'condition', event: event.event, async: arrived?.event }, () =>
    compiled(source, 'condition', { inWait }).holds(
      arrived ? { event: event.subject, async: arrived.subject } : { event: event.subject },
    ),
  )
}

/** The number of an expression for the event. */
export function evaluateNumber(source: string, event: EventSubject): Evaluated<number> {
  return evaluateOnce({ source, use: 'number', event: event.event, async: undefined }, () =>
    compiled(source, 'number').number({ event: event.subject }),
  )
}

/** The value of an attribute for the event. */
export function evaluateAttribute(source: string, event: EventSubject): Evaluated<string | number | boolean | null> {
  return evaluateOnce({ source, use: 'attribute', event: event.event, async: undefined }, () =>
    compiled(source, 'attribute').attribute({ event: event.subject }),
  )
}

function evaluateKey(source: string, event: EventSubject): Evaluated<string | null> {
  return evaluateOnce({ source, use: 'key', event: event.event, async: undefined }, () =>
    compiled(source, 'key').key({ event: event.subject }),
  )
}

/** The event and the workflow of a key, and the receiver of a fault. */
export interface KeyContext {
  subject: EventSubject
  workflow: Workflow
  report: Report
}

/**
 * The key, of bounded length, of a policy that delays or collects events; '' without an expression. An expression that cannot
 * be evaluated is reported and also gives '': all such events share one key, so no event escapes the policy.
 */
export function keyOf(source: string | undefined, { subject, workflow, report }: KeyContext): string {
  if (source === undefined) return ''
  const key = evaluateKey(source, subject)
  if (key.ok) return boundedKey(key.value ?? 'null')
  report({ of: { app: workflow.app, workflow: workflow.name }, filter: source, error: key.error })
  return ''
}

/**
 * The key, of bounded length, of a policy that drops events; '' without an expression. Undefined when the expression cannot be
 * evaluated, or gives null, a list or a map. This is reported, and then the policy does not apply to the event: under a shared
 * key, one customer's event would be dropped because of another's.
 */
export function dropKeyOf(
  policy: DroppingPolicy,
  source: string | undefined,
  { subject, workflow, report }: KeyContext,
): string | undefined {
  if (source === undefined) return ''
  const key = evaluateKey(source, subject)
  if (key.ok && key.value !== null) return boundedKey(key.value)
  const error = key.ok ? 'the key evaluates to null' : key.error
  report({ of: { app: workflow.app, workflow: workflow.name }, filter: source, error, policy })
  return undefined
}
