// A run's timeline, put together from the rows that tell its frames (architecture: "a frame that a step row already
// tells needs no row of its own"). The run's row tells creation, first start and end; a settled step tells its final
// status; log rows tell themselves; `frames` holds the rest. Called by reads.ts.

import { firstSeq } from '../../domain/seq.ts'
import type { TimelinePage } from '../../ports/store.ts'
import type { Query, Row } from './operations.ts'
import { frameFromRow } from './rows/frame-row.ts'

export interface TimelineQuery {
  namespace: string
  runId: string
  after: number
  limit: number
  openFrom: number
}

const SETTLED = `('succeeded', 'failed', 'cancelled')`

/**
 * One statement, and so one moment: whatever is committed later has a higher seq than all that is seen here. `page`
 * takes one row more than asked for, which tells whether there are more. Columns as in frame-row's `TimelineRow`, then `openFrom`:
 * the first step that is not settled with a seq within the page, or the index of the next step to come.
 */
const TIMELINE = `
WITH run AS MATERIALIZED (
  SELECT id, status, attempt, created_at, started_at, started_seq, finished_at, finished_seq
  FROM runs WHERE id = ? AND namespace = ?),
page AS MATERIALIZED (
  SELECT * FROM (
    SELECT 'step_status' AS kind, seq, finished_at AS ts, status, attempt, name, idx, error AS detail,
      CAST(NULL AS TEXT) AS message
    FROM steps WHERE run_id = (SELECT id FROM run) AND idx >= ? AND seq > ? AND status IN ${SETTLED}
    ORDER BY seq LIMIT ?) AS settled
  UNION ALL SELECT * FROM (
    SELECT CASE WHEN step_index IS NULL THEN 'run_status' ELSE 'step_status' END, seq, ts, status, attempt,
      (SELECT name FROM steps WHERE steps.run_id = frames.run_id AND steps.idx = frames.step_index),
      step_index, error, NULL
    FROM frames WHERE run_id = (SELECT id FROM run) AND seq > ? ORDER BY seq LIMIT ?) AS moves
  UNION ALL SELECT * FROM (
    SELECT 'log', seq, ts, level, attempt, scope, NULL, fields, message
    FROM logs WHERE run_id = (SELECT id FROM run) AND seq > ? ORDER BY seq LIMIT ?) AS lines
  UNION ALL SELECT 'run_status', ${firstSeq(0)}, created_at, 'queued', 1, NULL, NULL, NULL, NULL
    FROM run WHERE ${firstSeq(0)} > ?
  UNION ALL SELECT 'run_status', started_seq, started_at, 'running', 1, NULL, NULL, NULL, NULL
    FROM run WHERE started_seq > ?
  UNION ALL SELECT 'run_status', finished_seq, finished_at, status, attempt, NULL, NULL, NULL, NULL
    FROM run WHERE finished_seq > ?
  ORDER BY seq LIMIT ?),
last AS (SELECT max(seq) AS seq FROM (SELECT seq FROM page ORDER BY seq LIMIT ?) AS shown)
SELECT page.*, coalesce(
  (SELECT idx FROM steps WHERE run_id = (SELECT id FROM run) AND idx >= ?
    AND NOT (status IN ${SETTLED} AND seq <= (SELECT seq FROM last)) ORDER BY idx LIMIT 1),
  (SELECT max(idx) + 1 FROM steps WHERE run_id = (SELECT id FROM run)), 0)
FROM page ORDER BY seq`

export function timelineQuery({ namespace, runId, after, limit, openFrom }: TimelineQuery): Query {
  const bounds = [after, limit + 1]
  const sources = [openFrom, ...bounds, ...bounds, ...bounds, after, after, after]
  return { sql: TIMELINE, params: [runId, namespace, ...sources, limit + 1, limit, openFrom] }
}

/** The page from the rows of its query. */
export function timelinePage({ runId, limit, openFrom }: TimelineQuery, rows: Row[]): TimelinePage {
  const shown = rows.slice(0, limit)
  return {
    frames: shown.map(row => frameFromRow(runId, row)),
    // An empty page has settled nothing.
    openFrom: (shown[0]?.at(-1) as number | undefined) ?? openFrom,
    more: rows.length > limit,
  }
}
