// Leasing a due run that needs slots: it gets its lease, or is held for want of one (domain/holds/concurrency.ts says by what
// rules). Part of a claim of runs, inside the writer's transaction.

import { fullSlot, heldForSlot, slotIds, wantsSlots } from '../../../domain/holds/concurrency.ts'
import { waitsForThrottle } from '../../../domain/holds/throttle.ts'
import type { Run } from '../../../domain/model/run.ts'
import { firstSeq } from '../../../domain/model/seq.ts'
import type { Claim } from '../../../ports/store.ts'
import { runFrameRow } from '../tables/frames.ts'
import type { Row } from '../tables/operations.ts'
import { runFromRow, runMoves, SELECT_RUN, SELECT_RUN_SUMMARY } from '../tables/runs.ts'
import { OP_SQL } from '../write/statements.ts'
import { type Asking, ask } from './transaction-work.ts'

/** What every lease of a run sets: the owner, and until when. */
export const LEASE = 'lease_owner = ?, fence = fence + 1, available_at = ?i'

const HAS_SLOT = 'lease_owner IS NOT NULL AND leased_without_slots IS NULL'
const TAKEN = `SELECT ${['slot1', 'slot2', 'slot3']
  .map(slot => `(SELECT count(*) FROM runs WHERE ${slot} = ? AND ${HAS_SLOT})`)
  .join(' + ')}`

/** How many runs hold each slot, counted once per claim and kept up to date through it. */
export class SlotCounts {
  readonly #counts = new Map<string, number>()

  /** Of a slot that was counted. */
  taken(id: string): number {
    return this.#counts.get(id) as number
  }

  take(run: Run): void {
    this.#add(run, 1)
  }

  /** Counts those it does not know yet. */
  *count(ids: readonly string[]): Asking<void> {
    for (const id of ids) {
      if (this.#counts.has(id)) continue
      const [[count]] = (yield* ask(TAKEN, [id, id, id])) as [[number]]
      this.#counts.set(id, count)
    }
  }

  /** A run whose lease ran out does not stand in its own way. */
  giveBack(run: Run): void {
    if (run.leaseOwner !== undefined && !run.leasedWithoutSlots) this.#add(run, -1)
  }

  #add(run: Run, change: 1 | -1): void {
    for (const id of slotIds(run)) this.#counts.set(id, this.taken(id) + change)
  }
}

/** The leased row of the run whose `column` is `key`; undefined when it is held instead. */
export function* leaseSlotted(
  { column, key }: { column: 'id' | 'rowid'; key: string | number },
  slots: SlotCounts,
  { owner, now, leaseUntil }: Claim,
): Asking<Row | undefined> {
  const [row] = (yield* ask(`SELECT ${SELECT_RUN_SUMMARY} FROM runs WHERE ${column} = ?`, [key])) as [Row]
  const run = runFromRow(row)
  yield* slots.count(slotIds(run))
  slots.giveBack(run)
  const wants = wantsSlots(run, now)
  const full = wants ? fullSlot(run, id => slots.taken(id)) : undefined
  if (full) {
    yield* hold(run, heldForSlot(run, full, now), now)
    // What it was woken for may still be free: the next in those lines has its turn.
    for (const { id, limit } of run.holds?.slots ?? []) {
      if (slots.taken(id) < limit) yield* ask(OP_SQL['slot.free'], [now, id])
    }
    // Nor does it start: whoever is next in the line of its throttle may.
    const throttle = waitsForThrottle(run) ? run.holds?.throttle : undefined
    if (throttle) yield* ask(OP_SQL['startQueue.wake'], [now, throttle.id, 1, now])
    return undefined
  }
  if (wants) slots.take(run)
  const [leased] = yield* ask(
    `UPDATE runs SET ${LEASE}, waits_for_slot = NULL, start_queue = NULL, leased_without_slots = ?i
     WHERE ${column} = ? RETURNING ${SELECT_RUN}`,
    [owner, leaseUntil, wants ? null : 1, key],
  )
  return leased
}

function* hold(run: Run, held: Run, now: number): Asking<void> {
  yield* ask(OP_SQL['run.update'], [...runMoves(held), run.id])
  if (run.status === held.status) return
  const { status, attempt, fence } = held
  yield* ask(OP_SQL['frame.insert'], runFrameRow(run.id, { seq: firstSeq(fence), ts: now, status, attempt }))
}
