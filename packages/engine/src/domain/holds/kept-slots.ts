// Kept slots (`concurrency.hold: "run"`). A run holds them from its first invoke to its end, through sleeps, waits and pauses.
// Its row shows whether it holds them, so no slot can leak. A run that is created in the commit of another run's end may hold
// them from its creation.

import type { StepError } from '@perdure/protocol'
import type { Holds, Slot } from '../model/flow-control.ts'
import { isTerminal, type Run } from '../model/run.ts'
import { shownRunId } from '../text/ids.ts'
import { presentLimit } from './slot-ids.ts'

type Started = Pick<Run, 'holds' | 'startedAt'>

/** Maximum slots of a run: the store has a column for each. */
const SLOTS_MAX = 3

/** The slots that the run keeps until its end, if it keeps any yet. They come first among its slots. */
export function keptSlots({ holds, startedAt }: Started): Slot[] {
  if (holds?.slots === undefined || (startedAt === undefined && !holds.fromBirth)) return []
  return holds.slots.filter(({ kept }) => kept)
}

/** The slots that the run holds: all of them while it is leased with them, and between leases only the kept ones. */
export function heldSlots(run: Started & Pick<Run, 'status' | 'leaseOwner' | 'leasedWithoutSlots'>): Slot[] {
  if (run.leaseOwner !== undefined && !run.leasedWithoutSlots) return run.holds?.slots ?? []
  return isTerminal(run.status) ? [] : keptSlots(run)
}

/** Ids of the slots that a run without a lease does not hold, or no longer holds. */
export function freedSlotIds(run: Started & Pick<Run, 'status'>): string[] {
  const slots = run.holds?.slots ?? []
  const kept = isTerminal(run.status) ? [] : keptSlots(run)
  return slots.slice(kept.length).map(({ id }) => id)
}

/**
 * The fields of the next link of a chain. The link is created in the commit of the previous link's end, and holds the kept
 * slots from its creation. `own` are the holds of its workflow. The link stays in the slots that the chain keeps, whatever its
 * own key: a run that kept one slot and waited for another could wait for ever.
 */
export function handOverToLink(ending: Readonly<Run>, own: Holds | undefined): Partial<Run> {
  const kept = keptSlots(ending)
  const ancestors = ending.holds?.ancestors
  if (kept.length === 0 && ancestors === undefined) return {}
  const ids = new Set(kept.map(({ id }) => id))
  const others = (own?.slots ?? []).filter(slot => !ids.has(slot.id) && (kept.length === 0 || !slot.kept))
  const slots = [...kept, ...others].slice(0, SLOTS_MAX)
  return {
    holds: {
      ...own,
      ...(slots.length === 0 ? {} : { slots }),
      ...(kept.length === 0 ? {} : { fromBirth: true as const }),
      ...(ancestors === undefined ? {} : { ancestors }),
    },
  }
}

/**
 * The fields of the cleanup run, which is created in the commit of the end before it. It holds the kept slots until it ends.
 * Nothing waits for it, so it has no ancestors.
 */
export function handOverToCleanup(ending: Readonly<Run>): Pick<Run, 'holds'> {
  const slots = keptSlots(ending)
  return slots.length === 0 ? {} : { holds: { slots, fromBirth: true } }
}

/** The holds of a child: they contain the slots that its ancestors keep until it ends. */
export function underAncestors(parent: Readonly<Run>, own: Holds | undefined): Pick<Run, 'holds'> {
  const kept = keptSlots(parent)
  if (kept.length === 0 && parent.holds?.ancestors === undefined) return {}
  const ancestors = { ...parent.holds?.ancestors }
  for (const { id } of kept) ancestors[id] = [...(ancestors[id] ?? []), parent.id].slice(-ANCESTORS_MAX)
  return { holds: { ...own, ancestors } }
}

/**
 * Maximum ancestors that are stored for one slot. If more of them keep a slot, its limit is higher than a chain of children is
 * long.
 */
const ANCESTORS_MAX = 1000

/**
 * The error of a step whose child would wait for ever, because a slot that it needs is full of its ancestors, which wait for
 * the child.
 */
export function heldByAncestors(
  child: Readonly<Run>,
  limits: Parameters<typeof presentLimit>[2],
): StepError | undefined {
  for (const slot of child.holds?.slots ?? []) {
    const holders = child.holds?.ancestors?.[slot.id] ?? []
    const limit = presentLimit(child, slot, limits)
    if (holders.length < limit) continue
    const what = slot.key === undefined ? 'without a key' : `with the key "${slot.key}"`
    const who = holders.slice(-3).map(shownRunId).join(', ')
    const message = `The child of workflow "${child.workflow}" needs the concurrency slot ${what}, whose limit is ${limit}, and ${who} would keep it until the child has ended. Give the child another key, raise the limit, or use hold: "pass".`
    return { name: 'SlotHeldByParentError', message, code: 'conflict' }
  }
  return undefined
}
