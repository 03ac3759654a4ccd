// Evaluates the holds of a run once, when it is created: concurrency slots, a throttle, a priority, timeouts
// (docs/flow-control.md#the-order). The run keeps them: a later registration changes only later runs.

import { EventSubject } from '../expressions/event-subject.ts'
import { evaluateNumber, type KeyContext, keyOf, type Report } from '../expressions/matching.ts'
import type { ConcurrencyLimit, Holds, Slot } from '../model/flow-control.ts'
import type { Run } from '../model/run.ts'
import type { Workflow } from '../model/workflow.ts'
import { boundedKey } from '../text/bounded-key.ts'
import { idOf, named, type OfWorkflow, ownScope, slotId } from './slot-ids.ts'

const PRIORITY_MAX = 1e6
/** A weight outside this range counts as 1. */
const WEIGHT_MIN = 0.01
const WEIGHT_MAX = 1000

type Subject = OfWorkflow & Pick<Run, 'trigger' | 'input'>

/** The holds and the priority of a new run, evaluated over the event that its invokes carry. */
export function holdsOf(run: Subject, workflow: Workflow, report: Report): Pick<Run, 'holds' | 'priority'> {
  const { flowControl } = workflow
  if (!flowControl) return {}
  const { concurrency, throttle, fairness, timeouts = {} } = flowControl
  const over = { subject: new EventSubject({ ...run.trigger, data: run.input }), workflow, report }
  const holds: Holds = {}
  if (concurrency) holds.slots = slots(run, concurrency, over)
  if (throttle) {
    const { key: source, ...rate } = throttle
    const key = keyValue(source, over)
    holds.throttle = { id: idOf('throttle', ownScope(run), source, key), ...rate, ...named(key) }
  }
  if (fairness && (holds.slots || holds.throttle)) holds.fairness = fairnessOf(fairness, over)
  if (timeouts.queueMs !== undefined) holds.queueTimeoutMs = timeouts.queueMs
  if (timeouts.runMs !== undefined) holds.runTimeoutMs = timeouts.runMs
  return {
    ...(Object.keys(holds).length === 0 ? {} : { holds }),
    ...priorityOf(flowControl.priority, over),
  }
}

/**
 * One slot for each distinct id, kept ones first. If several limits share a slot, the lowest one counts, and the slot is kept
 * if one of them keeps it.
 */
function slots(run: Subject, limits: readonly ConcurrencyLimit[], over: KeyContext): Slot[] {
  const slots = new Map<string, Slot>()
  for (const { limit, key: source, scope, hold } of limits) {
    const key = keyValue(source, over)
    const id = slotId(run, scope, source, key)
    const same = slots.get(id)
    const kept = hold === 'run' || same?.kept ? { kept: true as const } : {}
    slots.set(id, { id, limit: Math.min(limit, same?.limit ?? limit), ...named(key), ...kept })
  }
  const all = [...slots.values()]
  return [...all.filter(({ kept }) => kept), ...all.filter(({ kept }) => !kept)]
}

function priorityOf(source: string | undefined, over: KeyContext): { priority?: number } {
  const { subject, workflow, report } = over
  if (source === undefined) return {}
  const evaluated = evaluateNumber(source, subject)
  if (!evaluated.ok) {
    report({ of: { app: workflow.app, workflow: workflow.name }, filter: source, error: evaluated.error })
    return {}
  }
  return storedPriority(evaluated.value)
}

/** Priority 0 is stored as absent: runs with a priority have separate indexes, and most have none. */
export function storedPriority(value: number): Pick<Run, 'priority'> {
  const priority = Math.max(-PRIORITY_MAX, Math.min(PRIORITY_MAX, value))
  return priority === 0 ? {} : { priority }
}

function fairnessOf({ key: source, weight: share }: { key: string; weight?: string }, over: KeyContext) {
  const key = boundedKey(keyOf(source, over))
  if (share === undefined) return { key, weight: 1 }
  const { subject, workflow, report } = over
  const weight = evaluateNumber(share, subject)
  if (!weight.ok) report({ of: { app: workflow.app, workflow: workflow.name }, filter: share, error: weight.error })
  return { key, weight: weight.ok && weight.value >= WEIGHT_MIN && weight.value <= WEIGHT_MAX ? weight.value : 1 }
}

function keyValue(source: string | undefined, over: KeyContext): string | undefined {
  return source === undefined ? undefined : keyOf(source, over)
}
