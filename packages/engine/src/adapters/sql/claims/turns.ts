// Turns of fairness keys when a run with slots is claimed: a run waits if another key, or an earlier run of its own key, has the
// next turn at a slot that runs wait for. Called by slotted-runs.ts, inside the transaction that leases the run.

import { keptSlots } from '../../../domain/holds/kept-slots.ts'
import type { Slot } from '../../../domain/model/flow-control.ts'
import type { Run } from '../../../domain/model/run.ts'
import { QUEUE_PLACE } from '../tables/runs.ts'
import { FORGOTTEN_PER_TURN, firstByTurn } from '../write/fair-turns.ts'
import { AVAILABLE_IN_ORDER, OPERATIONS } from '../write/statements.ts'
import { query, type Work } from './transaction-work.ts'

/** The run that has the next turn at a slot. */
interface Turn {
  slot: Slot
  runId: string
  fairKey: string
  tag: number
  /** The tag of the key of the run to be leased, if it has one. */
  own: number | undefined
  /** The run is before the run to be leased, in the order within a key. */
  isBefore: boolean
}

const TURN = `SELECT turn.id, turn.fair_key, turn.tag, (SELECT tag FROM fair_turns WHERE queue = ? AND fair_key = ?) AS own,
    CASE WHEN (SELECT 1 FROM runs WHERE id = turn.id AND (${QUEUE_PLACE}) < (SELECT ${QUEUE_PLACE} FROM runs WHERE id = ?)) = 1
      THEN 1 ELSE 0 END AS is_before
  FROM (SELECT ${firstByTurn('waits_for_slot')}) AS turn`
const MAKE_DUE = `UPDATE runs SET ${AVAILABLE_IN_ORDER}, waits_for_slot = NULL WHERE id = ? AND lease_owner IS NULL`
/** Rows of keys that are removed once no key waits in a queue. */
const FORGOTTEN_WITH_QUEUE = 1000

/** The next turns at the slots that a lease of the run takes and that other runs with a fairness key wait for. */
export function* turnsAt(run: Run): Work<Turn[]> {
  const turns: Turn[] = []
  const { fairness, slots = [] } = run.holds ?? {}
  if (!fairness) return turns
  for (const slot of slots.slice(keptSlots(run).length)) {
    const [row] = yield* query(TURN, [slot.id, fairness.key, run.id, slot.id])
    if (!row) continue
    const [runId, fairKey, tag, own, isBefore] = row as [string, string, number, number | null, number]
    turns.push({ slot, runId, fairKey, tag, own: own ?? undefined, isBefore: isBefore === 1 })
  }
  return turns
}

/**
 * The turn for which the run must wait. Only the first slot decides: runs that need the same slots then wait for one another at
 * only one of them.
 */
export function turnBefore(run: Run, [turn]: readonly Turn[]): Turn | undefined {
  if (!turn || turn.runId === run.id) return undefined
  if (turn.fairKey === run.holds?.fairness?.key) return turn.isBefore ? turn : undefined
  const hasWaited = run.waitingFor?.kind === 'concurrency'
  // The key of a new run joins behind the keys that wait.
  if (!hasWaited) return turn
  return turn.own !== undefined && turn.tag < turn.own ? turn : undefined
}

/** Makes the run with the turn due. */
export function* giveTurn({ runId }: Turn, now: number): Work<void> {
  yield* query(MAKE_DUE, [now, now, runId])
}

/** Adds the key to those that wait in the queue. Call it before the run is in the queue. */
export function* joinTurns(run: Run, queue: string): Work<void> {
  const { fairness } = run.holds ?? {}
  if (!fairness) return
  const params = [queue, fairness.key, 1 / fairness.weight, run.createdAt, queue, queue]
  yield* query(OPERATIONS['turn.join'], params)
}

/** Call it when the run has got its slots: its key has then had a turn wherever other runs wait. */
export function* takeTurns(run: Run, turns: readonly Turn[], now: number): Work<void> {
  const { fairness, slots = [] } = run.holds ?? {}
  if (!fairness) return
  const hasWaited = run.waitingFor?.kind === 'concurrency'
  for (const { id } of slots.slice(keptSlots(run).length)) {
    const turn = turns.find(({ slot }) => slot.id === id)
    if (turn) {
      if (!hasWaited || turn.own === undefined) yield* joinTurns(run, id)
      yield* query(OPERATIONS['turn.take'], [1 / fairness.weight, now, id, fairness.key])
    }
    yield* query(OPERATIONS['turn.forget'], [id, id, turn ? FORGOTTEN_PER_TURN : FORGOTTEN_WITH_QUEUE, id])
  }
}
