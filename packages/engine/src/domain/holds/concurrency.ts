// Concurrency slots. A run holds its slots while it is leased, and kept ones (kept-slots.ts) until it ends. Holders are counted
// from the rows, so no slot can leak. The store calls these functions at every claim of a run with slots, inside the
// transaction that leases the run.

import type { Slot } from '../model/flow-control.ts'
import type { Run } from '../model/run.ts'
import { keptSlots } from './kept-slots.ts'
import { runDeadline, timedOut } from './timeouts.ts'

/** A held run, or one in a start queue, is claimed after this time even if nothing woke it. Covers lost wake-ups. */
export const HELD_RECHECK_MS = 5 * 60_000

/** Ids of the run's slots. */
export function slotIds({ holds }: Pick<Run, 'holds'>): string[] {
  return holds?.slots?.map(({ id }) => id) ?? []
}

/** Whether a lease taken now would send the run to a runner, instead of only ending it or settling its timers. */
export function wantsSlots(run: Run, now: number): boolean {
  return run.status !== 'paused' && !run.cancelRequested && timedOut(run, now) === undefined
}

/**
 * The first full slot that a lease of the run must take; `taken` counts the other runs that hold a slot, `limitOf` is its
 * present limit. A kept slot that the run already has is not checked: it stays, even if its limit is lower now.
 */
export function fullSlot(
  run: Run,
  { taken, limitOf }: { taken(slotId: string): number; limitOf(slot: Slot): number },
): Slot | undefined {
  const missing = run.holds?.slots?.slice(keptSlots(run).length)
  return missing?.find(slot => taken(slot.id) >= limitOf(slot))
}

/** Fields of a run that waits in no queue of a slot or a throttle. If it has a lease, the lease took its slots. */
export const NOT_HELD = { waitsForSlot: undefined, startQueue: undefined, leasedWithoutSlots: undefined }

/** The run held for a full slot: queued, in the slot's queue, and available at the latest at its deadline. */
export function heldForSlot(run: Run, slot: Slot, now: number): Run {
  const deadline = runDeadline(run) ?? Number.POSITIVE_INFINITY
  return {
    ...run,
    status: 'queued',
    ...NOT_HELD,
    waitsForSlot: slot.id,
    availableAt: Math.min(now + HELD_RECHECK_MS, deadline),
    leaseOwner: undefined,
    waitingFor: { kind: 'concurrency', ...(slot.key === undefined ? {} : { key: slot.key }) },
    fence: run.fence + 1,
  }
}
