// Queries about the queues in which runs are held, of slots and of throttles, and what their rows mean. Called by the reads.

import type { Run } from '../../../../domain/model/run.ts'
import {
  HELD_COUNTED_MAX,
  HELD_OF_PAGE_COUNTED_MAX,
  type HeldBefore,
  type HeldRun,
} from '../../../../ports/queue-reads.ts'
import type { Query, Row } from '../../description/values.ts'
import { QUEUE_ORDER, QUEUE_PLACE } from '../../tables/runs.ts'
import { firstByTurn } from '../../write/fair-turns.ts'
import { FIRST_IN_START_QUEUE } from '../../write/statements.ts'

/** A queue, and the runs whose places in it are wanted. */
interface Queue {
  column: 'waits_for_slot' | 'start_queue'
  id: string
  fairKey: string | undefined
  runIds: string[]
}

/** One row with the number of runs before this one in its queue, in the order that `slot.free` and `startQueue.wake` use. */
export function heldBeforeQuery({ id, waitsForSlot, startQueue, holds }: HeldRun): Query {
  const queue = waitsForSlot === undefined ? 'start_queue' : 'waits_for_slot'
  const fairKey = holds?.fairness?.key
  return {
    sql: `SELECT count(*) FROM (
      SELECT 1 FROM runs WHERE ${queue} = ?${fairKey === undefined ? '' : ' AND fair_key = ?'} AND lease_owner IS NULL
        AND (${QUEUE_PLACE}) < (SELECT ${QUEUE_PLACE} FROM runs WHERE id = ?) LIMIT ?) AS ahead`,
    params: [waitsForSlot ?? startQueue ?? null, ...(fairKey === undefined ? [] : [fairKey]), id, HELD_COUNTED_MAX],
  }
}

/** A row if the first run in the start queue of a throttle has the run's destination and is ahead of it. */
export function isAheadQuery(throttleId: string, { id: runId, holds }: Pick<Run, 'id' | 'holds'>): Query {
  if (holds?.fairness) {
    const { key } = holds.fairness
    return {
      sql: `SELECT 1 FROM (SELECT ${firstByTurn('start_queue')}) AS turn JOIN runs AS first ON first.id = turn.id
        WHERE turn.id <> ? AND first.destination = (SELECT destination FROM runs WHERE id = ?)
          AND CASE WHEN turn.fair_key = ?
            THEN (SELECT count(*) FROM runs WHERE id = turn.id AND (${QUEUE_PLACE}) < (SELECT ${QUEUE_PLACE} FROM runs WHERE id = ?)) = 1
            ELSE turn.tag < coalesce((SELECT tag FROM fair_turns WHERE queue = ? AND fair_key = ?), turn.tag + 1) END`,
      params: [throttleId, runId, runId, key, runId, throttleId, key],
    }
  }
  return {
    sql: `SELECT 1 FROM (SELECT destination, priority, log_position, id ${FIRST_IN_START_QUEUE} 1) AS first
      WHERE (${QUEUE_PLACE}) < (SELECT ${QUEUE_PLACE} FROM runs WHERE id = ?)
        AND destination = (SELECT destination FROM runs WHERE id = ?)`,
    params: [throttleId, runId, runId],
  }
}

/** Finds the places of runs in their queues, a few queues at a time. */
export class HeldBeforeEach {
  readonly places = new Map<string, HeldBefore>()
  readonly #left: Queue[]
  /** Number of runs counted in each queue. */
  readonly #countMax: number

  constructor(runs: readonly HeldRun[]) {
    this.#left = queuesOf(runs)
    this.#countMax = Math.min(HELD_COUNTED_MAX, Math.floor(HELD_OF_PAGE_COUNTED_MAX / Math.max(1, this.#left.length)))
  }

  /** Makes one read of a bounded size. Returns true when no queue is left. */
  async isDone(read: (queries: Query[]) => Promise<Row[][]>): Promise<boolean> {
    const queues = this.#left.splice(0, Math.max(1, Math.floor(HELD_COUNTED_MAX / this.#countMax)))
    if (queues.length === 0) return true
    const found = await read(queues.map(queue => placesQuery(queue, this.#countMax)))
    for (const [i, rows] of found.entries()) this.#note(queues[i] as Queue, rows)
    return this.#left.length === 0
  }

  /** A run that was not found comes after all counted runs, or is no longer in the queue. */
  #note({ runIds }: Queue, rows: readonly Row[]): void {
    const count = this.#countMax
    const places = new Map(rows as [string, number][])
    const isPart = rows.some(row => row[1] === count + 1)
    for (const runId of runIds) {
      const place = places.get(runId)
      if (place !== undefined && place <= count) this.places.set(runId, { count: place - 1, isPart: false })
      else if (isPart) this.places.set(runId, { count, isPart })
    }
  }
}

function queuesOf(runs: readonly HeldRun[]): Queue[] {
  const queues = new Map<string, Queue>()
  for (const { id: runId, waitsForSlot, startQueue, holds } of runs) {
    const id = waitsForSlot ?? startQueue
    if (id === undefined) continue
    const column = waitsForSlot === undefined ? 'start_queue' : 'waits_for_slot'
    const fairKey = holds?.fairness?.key
    const name = JSON.stringify([column, id, fairKey])
    const queue = queues.get(name) ?? { column, id, fairKey, runIds: [] }
    queue.runIds.push(runId)
    queues.set(name, queue)
  }
  return [...queues.values()]
}

/** Rows with id and place, from 1, of the wanted runs among the first `count` of their queue, and of the run after these. */
function placesQuery({ column, id, fairKey, runIds }: Queue, count: number): Query {
  // The list has one of few sizes, so that few statements are prepared.
  const size = 2 ** Math.ceil(Math.log2(runIds.length))
  const ids = Array.from({ length: size }, (_, i) => runIds[i] ?? (runIds[0] as string))
  return {
    sql: `SELECT id, place FROM (
        SELECT id, row_number() OVER (ORDER BY ${QUEUE_ORDER}) AS place FROM runs
        WHERE ${column} = ?${fairKey === undefined ? '' : ' AND fair_key = ?'} AND lease_owner IS NULL
        ORDER BY ${QUEUE_ORDER} LIMIT ?) AS first
      WHERE place = ? OR id IN (${ids.map(() => '?').join(', ')})`,
    params: [id, ...(fairKey === undefined ? [] : [fairKey]), count + 1, count + 1, ...ids],
  }
}
