// Concurrency slots. A run holds its slots while it is leased: who holds one is counted from the rows, so none can
// leak. The store asks these at every claim of a run with slots, inside the transaction that leases it.

import type { Slot } from '../model/holds.ts'
import type { Run } from '../model/run.ts'
import { runDeadline, timedOut } from './timeouts.ts'

/** A held run, or one in a throttle's line, is looked at this often although nobody woke it: the net below the wakes. */
export const HELD_RECHECK_MS = 5 * 60_000

/** Ids of the run's slots. */
export function slotIds({ holds }: Pick<Run, 'holds'>): string[] {
  return holds?.slots?.map(({ id }) => id) ?? []
}

/** Whether the run goes on to a runner if it is leased now, rather than only to end or to settle timers. */
export function wantsSlots(run: Run, now: number): boolean {
  return run.status !== 'paused' && !run.cancelRequested && timedOut(run, now) === undefined
}

/** The first of the run's slots that is full; `taken` counts the other runs that hold one. */
export function fullSlot(run: Run, taken: (slotId: string) => number): Slot | undefined {
  return run.holds?.slots?.find(({ id, limit }) => taken(id) >= limit)
}

/** The run held for want of a slot: queued, in the line of that slot, and awake in time for its deadline. */
export function heldForSlot(run: Run, slot: Slot, now: number): Run {
  const deadline = runDeadline(run) ?? Number.POSITIVE_INFINITY
  return {
    ...run,
    status: 'queued',
    heldSlot: slot.id,
    availableAt: Math.min(now + HELD_RECHECK_MS, deadline),
    leaseOwner: undefined,
    waitingFor: { kind: 'concurrency', ...(slot.key === undefined ? {} : { key: slot.key }) },
    fence: run.fence + 1,
  }
}
