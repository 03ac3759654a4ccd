// Queries about the turns of limits that steps share, and what their rows mean. Called by the reads.

import { TURNS_COUNTED_MAX, type TurnPoolNow } from '../../../../domain/why/turn-pool.ts'
import type { TurnPoolsQuery } from '../../../../ports/store-reads.ts'
import { conditions } from '../../description/conditions.ts'
import type { Query, Row } from '../../description/values.ts'
import { TURN_OPEN, TURN_TAKEN, TURN_WAITS } from '../../tables/flow-rows.ts'

type PoolRow = [
  ...[app: string, name: string, key: string, turns: number | null, periodMs: number | null],
  ...[nextAt: number | null, taken: number, waiting: number, oldestAt: number | null, ahead: number | null],
]

/** One more than the bound shows that there are more. */
const counted = (terms: string) =>
  `(SELECT count(*) FROM (SELECT 1 FROM limit_turns AS w WHERE w.pool = pools.id AND ${TURN_WAITS}${terms} LIMIT ${TURNS_COUNTED_MAX + 1}) AS c)`

/** Rows for `turnPoolOf`: the pools with the most waiting steps first, or the pool of one step. */
export function turnPoolsQuery(namespace: string, { now, step, limit, ...query }: TurnPoolsQuery): Query {
  const { terms, params } = conditions({
    'pools.namespace = ?': namespace,
    'pools.app = ?': query.app,
    'pools.workflow = ?': query.name,
    'pools.key = ?': query.key,
  })
  const ahead = step ? `CASE WHEN own.granted_at IS NULL THEN ${counted(' AND w.place < own.place')} END` : 'NULL'
  const own = step
    ? `JOIN limit_turns AS own ON own.pool = pools.id AND own.run_id = ? AND own.idx = ? AND own.${TURN_OPEN}`
    : ''
  return {
    sql: `SELECT pools.app, pools.workflow, pools.key, l.turns, l.period_ms, pools.available_at,
        (SELECT count(*) FROM limit_turns AS t WHERE t.pool = pools.id AND ${TURN_TAKEN}
          AND (t.started_at IS NULL OR t.started_at > ? - coalesce(l.period_ms, 0))) AS taken,
        ${counted('')} AS waiting,
        (SELECT min(w.asked_at) FROM limit_turns AS w WHERE w.pool = pools.id AND ${TURN_WAITS}) AS oldest, ${ahead}
      FROM flow_rows AS pools ${own}
      LEFT JOIN step_limits AS l ON l.namespace = pools.namespace AND l.app = pools.app AND l.name = pools.workflow
      WHERE ${terms} AND pools.policy = 'limit'
      ORDER BY waiting DESC, taken DESC, pools.id LIMIT ?`,
    params: [now, ...(step ? [step.runId, step.index] : []), ...params, limit],
  }
}

export function turnPoolOf(row: Row): TurnPoolNow {
  const [app, name, key, turns, periodMs, nextAt, taken, waiting, oldestAt, ahead] = row as PoolRow
  return {
    ...{ app, name, key, taken, waiting },
    ...(turns === null || periodMs === null ? {} : { registered: { limit: turns, periodMs } }),
    ...(nextAt === null ? {} : { nextAt }),
    ...(oldestAt === null ? {} : { oldestAt }),
    ...(ahead === null ? {} : { ahead }),
  }
}
