// Leases a due run that needs slots, or holds it if one is full (domain/holds/concurrency.ts has the rules). Part of a claim
// of runs, inside the writer's transaction.

import { fullSlot, heldForSlot, slotIds, wantsSlots } from '../../../domain/holds/concurrency.ts'
import { waitsForThrottle } from '../../../domain/holds/throttle.ts'
import type { Run } from '../../../domain/model/run.ts'
import { firstSeq } from '../../../domain/model/seq.ts'
import type { Claim } from '../../../ports/store.ts'
import type { Row, Value } from '../description/values.ts'
import { FRAMES } from '../tables/frames.ts'
import { HOLDS_SLOTS, RUNS, SLOT_COLUMNS } from '../tables/runs.ts'
import { OPERATIONS } from '../write/statements.ts'
import { query, type Work } from './transaction-work.ts'

/** The columns that every lease of a run sets. */
export const LEASE = 'lease_owner = ?, fence = fence + 1, available_at = ?i'

const COUNT_TAKEN = `SELECT ${SLOT_COLUMNS.map(
  slot => `(SELECT count(*) FROM runs WHERE ${slot} = ? AND ${HOLDS_SLOTS})`,
).join(' + ')}`
const RUN_WITHOUT_PAYLOADS = RUNS.selectWithout('input', 'result', 'eventIds')

/** How many runs hold each slot, counted once per claim and kept up to date through it. */
export class SlotCounts {
  readonly #counts = new Map<string, number>()

  /** The count of a slot that was counted. */
  taken(id: string): number {
    return this.#counts.get(id) as number
  }

  take(run: Run): void {
    this.#add(run, 1)
  }

  /** Counts the slots that are not counted yet. */
  *count(ids: readonly string[]): Work<void> {
    for (const id of ids) {
      if (this.#counts.has(id)) continue
      const [[count]] = (yield* query(COUNT_TAKEN, [id, id, id])) as [[number]]
      this.#counts.set(id, count)
    }
  }

  /** A run whose lease ran out does not compete with itself. */
  giveBack(run: Run): void {
    if (run.leaseOwner !== undefined && !run.leasedWithoutSlots) this.#add(run, -1)
  }

  #add(run: Run, change: 1 | -1): void {
    for (const id of slotIds(run)) this.#counts.set(id, this.taken(id) + change)
  }
}

/** The leased row of the run whose `column` is `key`; undefined when the run is held instead. */
export function* leaseSlotted(
  { column, key }: { column: 'id' | 'rowid'; key: string | number },
  slots: SlotCounts,
  { owner, now, leaseUntil }: Claim,
): Work<Row | undefined> {
  const [row] = (yield* query(`SELECT ${RUN_WITHOUT_PAYLOADS} FROM runs WHERE ${column} = ?`, [key])) as [Row]
  const run = RUNS.fromRow(row)
  yield* slots.count(slotIds(run))
  slots.giveBack(run)
  const wants = wantsSlots(run, now)
  const full = wants ? fullSlot(run, id => slots.taken(id)) : undefined
  if (full) {
    yield* hold(run, heldForSlot(run, full, now), now)
    yield* wakeNext(run, slots, now)
    return undefined
  }
  if (wants) slots.take(run)
  const [leased] = yield* query(
    `UPDATE runs SET ${LEASE}, waits_for_slot = NULL, start_queue = NULL, leased_without_slots = ?i
     WHERE ${column} = ? RETURNING ${RUNS.select}`,
    [owner, leaseUntil, wants ? null : 1, key],
  )
  return leased
}

function* hold(run: Run, held: Run, now: number): Work<void> {
  const moves: Value[] = []
  RUNS.appendMoving(moves, held)
  yield* query(OPERATIONS['run.update'], [...moves, run.id])
  if (run.status === held.status) return
  const { status, attempt, fence } = held
  const frame: Value[] = []
  FRAMES.append(frame, { runId: run.id, seq: firstSeq(fence), ts: now, status, attempt })
  yield* query(OPERATIONS['frame.insert'], frame)
}

/** A run that is held does not use what it was woken for: the next run in the queue of each free slot, or start, may. */
function* wakeNext(run: Run, slots: SlotCounts, now: number): Work<void> {
  for (const { id, limit } of run.holds?.slots ?? []) {
    if (slots.taken(id) < limit) yield* query(OPERATIONS['slot.free'], [now, id])
  }
  const throttle = waitsForThrottle(run) ? run.holds?.throttle : undefined
  if (throttle) yield* query(OPERATIONS['startQueue.wake'], [now, throttle.id, 1, now])
}
