// Leases a due run that needs slots, or holds it if a slot is full (domain/holds/concurrency.ts has the rules). A run with a
// throttle and no slots joins the start queue first. Part of a claim of runs, inside the writer's transaction.

import { fullSlot, heldForSlot, slotIds, wantsSlots } from '../../../domain/holds/concurrency.ts'
import { heldSlots, keptSlots } from '../../../domain/holds/kept-slots.ts'
import { presentConcurrency } from '../../../domain/holds/operator-limits.ts'
import { presentLimit } from '../../../domain/holds/slot-ids.ts'
import { heldForStart, throttleToPass, waitsForThrottle } from '../../../domain/holds/throttle.ts'
import type { ConcurrencyLimit, Slot, ThrottleHold } from '../../../domain/model/flow-control.ts'
import { type Run, runDestination } from '../../../domain/model/run.ts'
import { firstSeq } from '../../../domain/model/seq.ts'
import type { Claim } from '../../../ports/store.ts'
import type { Row, Value } from '../description/values.ts'
import { FRAMES } from '../tables/frames.ts'
import { WORKFLOWS } from '../tables/registry.ts'
import { HOLDS_SLOT, QUEUE_ORDER, RUNS, SLOT_COLUMNS } from '../tables/runs.ts'
import { firstByTurn } from '../write/fair-turns.ts'
import { AVAILABLE_IN_ORDER, FIRST_IN_START_QUEUE, OPERATIONS } from '../write/statements.ts'
import { query, type Work } from './transaction-work.ts'
import { giveTurn, joinTurns, takeTurns, turnBefore, turnsAt } from './turns.ts'

/**
 * A run that can be leased directly: it has no slots, and no throttle before its first start, unless it comes from the start
 * queue.
 */
export const IS_PLAIN = `slot1 IS NULL
  AND (holds IS NULL OR start_queue IS NOT NULL OR started_at IS NOT NULL OR holds NOT LIKE '%"throttle":%')`

/** The columns that every lease of a run sets. */
export const LEASE = 'lease_owner = ?, fence = fence + 1, available_at = ?i'

const COUNT_TAKEN = `SELECT ${SLOT_COLUMNS.map(
  slot => `(SELECT count(*) FROM runs WHERE ${slot} = ? AND ${HOLDS_SLOT[slot]})`,
).join(' + ')}`
const FIRST_TO_START = `SELECT id FROM runs WHERE start_queue = ? ORDER BY ${QUEUE_ORDER} LIMIT 1`
const FIRST_BY_TURN = `SELECT ${firstByTurn('start_queue')}`
const LIMITED = WORKFLOWS.part('flowControl', 'limits')
const LIMITS_OF = `SELECT ${LIMITED.select} FROM workflows WHERE namespace = ? AND app = ? AND name = ?`
const RUN_WITHOUT_PAYLOADS = RUNS.selectWithout('input', 'result', 'eventIds')

/** How many runs hold each slot, counted once per claim and kept up to date through it. */
export class SlotCounts {
  readonly #counts = new Map<string, number>()
  readonly #given = new Set<string>()
  /** The limits by workflow. */
  readonly #limits = new Map<string, readonly ConcurrencyLimit[] | undefined>()

  /** Returns the count of a slot that `count` has counted. */
  taken(id: string): number {
    return this.#counts.get(id) as number
  }

  /**
   * Marks a run that the claim made due because it has the next turn: it is leased even if another run is next at another slot.
   */
  giveTurn(runId: string): void {
    this.#given.add(runId)
  }

  hasTurn({ id }: Run): boolean {
    return this.#given.has(id)
  }

  take(slots: readonly Slot[]): void {
    this.#add(slots, 1)
  }

  /**
   * Returns the present limits of the run's workflow. They are read in the transaction of the claim, so that a registration, or
   * an operator's limit, counts at once.
   */
  *limitsOf(run: Run): Work<readonly ConcurrencyLimit[] | undefined> {
    const { namespace, app, workflow } = run
    const key = runDestination({ namespace, app, workflow })
    if (!this.#limits.has(key)) {
      const [row] = yield* query(LIMITS_OF, [namespace, app, workflow])
      this.#limits.set(key, presentConcurrency(row ? LIMITED.fromRow(row) : {}))
    }
    return this.#limits.get(key)
  }

  /** Counts the slots that are not counted yet. */
  *count(ids: readonly string[]): Work<void> {
    for (const id of ids) {
      if (this.#counts.has(id)) continue
      const [[count]] = (yield* query(COUNT_TAKEN, [id, id, id])) as [[number]]
      this.#counts.set(id, count)
    }
  }

  /** Frees the slots of a run whose lease ran out, or that keeps slots: it does not compete with itself. */
  giveBack(run: Run): void {
    this.#add(heldSlots(run), -1)
  }

  #add(slots: readonly Slot[], change: 1 | -1): void {
    for (const { id } of slots) this.#counts.set(id, this.taken(id) + change)
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
  const throttle = joinsStartQueue(run, now)
  if (throttle) {
    yield* joinStartQueue(run, throttle, now)
    return undefined
  }
  yield* slots.count(slotIds(run))
  slots.giveBack(run)
  const wants = wantsSlots(run, now)
  const limits = wants && run.holds?.slots ? yield* slots.limitsOf(run) : undefined
  const limitOf = (slot: Slot) => presentLimit(run, slot, limits)
  const full = wants ? fullSlot(run, { taken: id => slots.taken(id), limitOf }) : undefined
  const turns = wants && !full ? yield* turnsAt(run) : []
  const before = slots.hasTurn(run) ? undefined : turnBefore(run, turns)
  const slotOfQueue = full ?? before?.slot
  slots.take(wants && !slotOfQueue ? (run.holds?.slots ?? []) : keptSlots(run))
  if (slotOfQueue) {
    yield* hold(run, heldForSlot(run, slotOfQueue, now), now)
    if (before) {
      yield* giveTurn(before, now)
      slots.giveTurn(before.runId)
    } else yield* wakeNext(run, { slots, limitOf }, now)
    return undefined
  }
  const [leased] = yield* query(
    `UPDATE runs SET ${LEASE}, waits_for_slot = NULL, start_queue = NULL, leased_without_slots = ?i
     WHERE ${column} = ? RETURNING ${RUNS.select}`,
    [owner, leaseUntil, wants ? null : 1, key],
  )
  if (wants) yield* takeTurns(run, turns, now)
  // If several slots or starts became free at once, the run with the next turn may take one of the others.
  for (const { slot } of turns) {
    if (slots.taken(slot.id) < limitOf(slot)) yield* query(OPERATIONS['slot.free'], [now, now, slot.id, slot.id])
  }
  return leased
}

/** The throttle in whose start queue a run without slots must be before it is leased. */
function joinsStartQueue(run: Run, now: number): ThrottleHold | undefined {
  return run.startQueue === undefined && slotIds(run).length === 0 ? throttleToPass(run, now) : undefined
}

/**
 * Only the first in the queue is due. A run that was woken stays in the queue until it starts: engines that claim at the same
 * time start runs in the order of the queue.
 */
function* joinStartQueue(run: Run, throttle: ThrottleHold, now: number): Work<void> {
  const [before] = yield* query(`SELECT waiting_for ${FIRST_IN_START_QUEUE} 1`, [throttle.id])
  const { until } = JSON.parse((before?.[0] as string | null | undefined) ?? '{}') as { until?: number }
  yield* hold(run, heldForStart(run, throttle, { now, ...(until === undefined ? {} : { until }) }), now)
  const [first] = yield* query(run.holds?.fairness ? FIRST_BY_TURN : FIRST_TO_START, [throttle.id])
  if (first?.[0] === run.id) yield* query(`UPDATE runs SET ${AVAILABLE_IN_ORDER} WHERE id = ?`, [now, now, run.id])
}

function* hold(run: Run, held: Run, now: number): Work<void> {
  const queue = held.waitsForSlot ?? held.startQueue
  if (queue !== undefined) yield* joinTurns(held, queue)
  const moves: Value[] = []
  RUNS.appendMoving(moves, held)
  yield* query(OPERATIONS['run.update'], [...moves, run.id])
  if (run.status === held.status) return
  const { status, attempt, fence } = held
  const frame: Value[] = []
  FRAMES.append(frame, { runId: run.id, seq: firstSeq(fence), ts: now, status, attempt })
  yield* query(OPERATIONS['frame.insert'], frame)
}

/** A run that is held does not use the slots or start for which it was woken: wakes the next run in the queue of each. */
function* wakeNext(
  run: Run,
  { slots, limitOf }: { slots: SlotCounts; limitOf(slot: Slot): number },
  now: number,
): Work<void> {
  for (const slot of run.holds?.slots ?? []) {
    if (slots.taken(slot.id) < limitOf(slot)) yield* query(OPERATIONS['slot.free'], [now, now, slot.id, slot.id])
  }
  const throttle = waitsForThrottle(run) ? run.holds?.throttle : undefined
  if (throttle) yield* query(OPERATIONS['startQueue.wake'], [now, throttle.id, 1, now])
}
