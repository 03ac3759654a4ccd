// Concludes a decision by comparing the run before and after it: which slots it frees, whether it wakes a start queue, and when
// the run must be available. Pure; `draft.ts` applies it once, when the decision is done.

import { NOT_HELD } from '../holds/concurrency.ts'
import { freedSlotIds } from '../holds/kept-slots.ts'
import { type Start, type StartQueueWake, waitsForThrottle, wakeNextStart, wakeStartQueue } from '../holds/throttle.ts'
import { runDeadline } from '../holds/timeouts.ts'
import type { Change } from '../model/change.ts'
import { isTerminal, type Run } from '../model/run.ts'

export interface Conclusion {
  /** Fields of the run's row to set in addition to those of the decision. */
  fields: Partial<Omit<Run, 'status' | 'fence'>>
  /** Wake-ups for other runs, to commit with the decision. */
  changes: Change[]
}

const NOTHING: Readonly<Conclusion> = { fields: {}, changes: [] }

/**
 * Concludes a decision on one run. `before` and `after` are the same object when the decision did not change the run's row.
 * `start` is the limiter's answer, where the decision used one. This is the only place that wakes start queues.
 */
export function conclude(
  before: Readonly<Run>,
  after: Readonly<Run>,
  { now, start }: { now: number; start?: Start | undefined },
): Conclusion {
  const isUnleased = after.leaseOwner === undefined
  const cancelsNext = isUnleased && after.cancelRequested === true
  // Most passes do not change the row.
  if (after === before && !cancelsNext) return NOTHING
  // The next lease cancels the run: it is due at once, whatever the run waits for.
  const due = cancelsNext ? { availableAt: now } : {}
  const { fields, changes } = isUnleased ? released({ ...after, ...due }, now) : NOTHING
  const woken = startQueueWake(before, after, start, now)
  if (!woken) return { fields: { ...due, ...fields }, changes }
  const byTurn = after.holds?.fairness ? { byTurn: true as const } : {}
  return { fields: { ...due, ...fields }, changes: [...changes, { ...woken, ...byTurn }] }
}

/**
 * A run without a lease holds only the slots that it keeps, and waits for none: its next claim decides on both. It wakes in
 * time for its deadline.
 */
function released(run: Readonly<Run>, now: number): Conclusion {
  const { holds, availableAt } = run
  if (holds === undefined) return NOTHING
  const freed = freedSlotIds(run)
  const deadline = isTerminal(run.status) ? undefined : runDeadline(run)
  return {
    fields: {
      ...NOT_HELD,
      startQueue: waitsForThrottle(run) ? holds.throttle?.id : undefined,
      ...(deadline === undefined ? {} : { availableAt: Math.min(availableAt ?? deadline, deadline) }),
    },
    changes: freed.length === 0 ? [] : [{ type: 'slots.freed', slotIds: freed, at: now }],
  }
}

/**
 * A run that started, or that found no free start, knows when the next start is free. A run that left the queue without
 * starting does not know it: the next one in the queue queries the limiter.
 */
function startQueueWake(
  before: Readonly<Run>,
  after: Readonly<Run>,
  start: Start | undefined,
  now: number,
): StartQueueWake | undefined {
  const throttle = after.holds?.throttle
  if (!throttle) return undefined
  const hasStarted = before.startedAt === undefined && after.startedAt !== undefined
  const waits = waitsForThrottle(after)
  if (start && (hasStarted || waits)) return wakeStartQueue(throttle, start, now)
  const hasLeft = waitsForThrottle(before) && !waits
  return hasLeft ? wakeNextStart(throttle, now) : undefined
}
