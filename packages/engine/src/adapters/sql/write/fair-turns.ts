// Turns of fairness keys in the queues of held runs (docs/flow-control.md#fairness), as start-time fair queueing. A key that
// waits in a queue has a row with its tag, the virtual time of its next turn: the key with the lowest tag is next, and each turn
// adds 1/weight to the tag. A key joins at the lowest tag among the waiting keys, so it brings no credit. The row of a key that
// no longer waits is kept until the others have reached its tag: a key with one run at a time gets no more turns than the others.

import { QUEUE_ORDER, QUEUE_PLACE } from '../tables/runs.ts'

/**
 * How many keys with the lowest tags are searched for the first that waits. Keys that no longer wait are removed as turns are
 * taken.
 */
const LOOKED_AT = 64
/** Most rows of keys that no longer wait which one turn removes; each turn leaves at most one. */
export const FORGOTTEN_PER_TURN = 8

type Queue = 'waits_for_slot' | 'start_queue'

const waitsIn = (queue: Queue, turns: string) =>
  `EXISTS (SELECT 1 FROM runs WHERE ${queue} = ${turns}.queue AND fair_key = ${turns}.fair_key AND lease_owner IS NULL)`
/** The queues of slots and of throttles have different ids. */
const waits = (turns: string) => `(${waitsIn('waits_for_slot', turns)} OR ${waitsIn('start_queue', turns)})`
const BY_TURN = 'ORDER BY tag, joined_at, fair_key'

/** The keys of the queue whose id is the parameter, in the order of their turns. */
const TURNS = `(SELECT * FROM fair_turns WHERE queue = ? ${BY_TURN} LIMIT ${LOOKED_AT}) AS t`
/** The lowest tag of a key that waits in the queue. */
const FRONT = `(SELECT t.tag FROM ${TURNS} WHERE ${waits('t')} ORDER BY t.tag LIMIT 1)`
const firstOfKey = (queue: Queue) =>
  `(SELECT id FROM runs WHERE ${queue} = t.queue AND fair_key = t.fair_key AND lease_owner IS NULL ORDER BY ${QUEUE_ORDER} LIMIT 1)`

/** Follows SELECT: the first run of the key whose turn it is. The parameter is the queue's id. */
export const firstByTurn = (queue: Queue): string =>
  `${firstOfKey(queue)} AS id, t.fair_key AS fair_key, t.tag AS tag FROM ${TURNS} WHERE ${waitsIn(queue, 't')}
    ORDER BY t.tag, t.joined_at, t.fair_key LIMIT 1`

/**
 * Runs of several turns ahead, for a throttle that starts many at once: their turns continue from the tags of their keys. Looks
 * at twice as many runs as are wanted, the same number for each key. Parameters: the queue, and three times the number of runs.
 */
const AHEAD = `WITH RECURSIVE keys AS (SELECT * FROM fair_turns WHERE queue = ? ${BY_TURN} LIMIT ?i),
    turns (queue, fair_key, tag, cost, joined_at, nth, id) AS (
      SELECT t.queue, t.fair_key, t.tag, t.cost, t.joined_at, 0, ${firstOfKey('start_queue')} FROM keys AS t
      UNION ALL
      SELECT t.queue, t.fair_key, t.tag, t.cost, t.joined_at, t.nth + 1, (SELECT id FROM runs
          WHERE start_queue = t.queue AND fair_key = t.fair_key AND lease_owner IS NULL
            AND (${QUEUE_PLACE}) > (SELECT ${QUEUE_PLACE} FROM runs WHERE id = t.id)
          ORDER BY ${QUEUE_ORDER} LIMIT 1)
      FROM turns AS t WHERE t.id IS NOT NULL AND (t.nth + 1) * (SELECT count(*) FROM keys) < 2 * ?i)
  SELECT id FROM turns WHERE id IS NOT NULL ORDER BY tag + nth * cost, joined_at LIMIT ?i`

/**
 * The first runs of a queue, in the order of the log; the queue's id is the parameter, and `LIMIT` follows with the number of
 * runs.
 */
export const firstInQueue = (queue: Queue) =>
  `FROM runs WHERE ${queue} = ? AND lease_owner IS NULL ORDER BY ${QUEUE_ORDER} LIMIT`

/**
 * Follows `id =`: the next run in the queue of a slot. If the first run in the order of the log has a fairness key, the keys take
 * turns. Runs without a key, of workflows that share the slot, go by the log. The parameter is the slot's id, twice.
 */
export const NEXT_FOR_SLOT = `(SELECT CASE WHEN head.fair_key IS NULL THEN head.id
    ELSE coalesce((SELECT id FROM (SELECT ${firstByTurn('waits_for_slot')}) AS turn), head.id) END
  FROM (SELECT id, fair_key ${firstInQueue('waits_for_slot')} 1) AS head)`

/** Statements about turns, for the table of operations. */
export const TURN_OPERATIONS = {
  // Called before the run joins the queue. A key that already waits there keeps its tag.
  'turn.join': `INSERT INTO fair_turns (queue, fair_key, cost, joined_at, tag)
    VALUES (?, ?, ?r, ?i, coalesce(${FRONT}, (SELECT max(tag) FROM fair_turns WHERE queue = ?), 0))
    ON CONFLICT (queue, fair_key) DO UPDATE SET cost = excluded.cost,
      joined_at = CASE WHEN excluded.tag > fair_turns.tag THEN excluded.joined_at ELSE fair_turns.joined_at END,
      tag = CASE WHEN excluded.tag > fair_turns.tag THEN excluded.tag ELSE fair_turns.tag END`,
  'turn.take': `UPDATE fair_turns SET tag = tag + ?r, joined_at = ?i WHERE queue = ? AND fair_key = ?`,
  // Removes rows with no waiting key behind them, which only say that the key joins at the lowest tag. Parameters: queue, number,
  // queue.
  'turn.forget': `DELETE FROM fair_turns WHERE queue = ?
    AND fair_key IN (SELECT fair_key FROM fair_turns WHERE queue = ? ${BY_TURN} LIMIT ?i)
    AND tag <= coalesce(${FRONT}, tag) AND NOT ${waits('fair_turns')}`,
  'startQueue.wakeByTurn': `UPDATE runs SET available_at = ?i
    WHERE id IN (SELECT id FROM (SELECT id, fair_key ${firstInQueue('start_queue')} 1) AS head WHERE fair_key IS NULL
        UNION ALL SELECT id FROM (${AHEAD}) AS next)
      AND (available_at IS NULL OR available_at > ?i)`,
} as const

/** Keys of queues in which no run waits any more. Parameter: the most rows to remove. */
export const FORGET_IDLE = `DELETE FROM fair_turns WHERE (queue, fair_key) IN (
    SELECT queue, fair_key FROM fair_turns WHERE queue IN (
      WITH RECURSIVE queues (id) AS (SELECT min(queue) FROM fair_turns UNION ALL
        SELECT (SELECT min(queue) FROM fair_turns WHERE queue > queues.id) FROM queues WHERE id IS NOT NULL)
      SELECT id FROM queues WHERE id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.waits_for_slot = queues.id AND r.lease_owner IS NULL)
        AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.start_queue = queues.id))
    LIMIT ?i)
  RETURNING queue`
