// Checks of output streams (docs/streams.md): the rows of a stream have every number once, and add up to the values in its head.

import type { Check } from './check.ts'

const ROWS = 'stream_rows AS r WHERE r.run_id = s.run_id AND r.name = s.name'
/** A dropped stream has no rows. */
const KEPT = 's.dropped IS NULL'

/** Streams of a range of runs. */
export const STREAM_CHECKS: readonly Check[] = [
  {
    name: 'stream.rows',
    sql: `SELECT s.run_id, s.name FROM streams s WHERE s.run_id > ? AND s.run_id <= ? AND ${KEPT}
      AND s.next <> (SELECT coalesce(sum(r.messages), 0) FROM ${ROWS})`,
    message: ([, name]) => `has an output stream "${name}" whose rows do not have as many messages as its head says`,
  },
  {
    name: 'stream.numbers',
    sql: `SELECT r.run_id, r.name, r.n FROM stream_rows AS r WHERE r.run_id > ? AND r.run_id <= ? AND r.n <> 0
      AND NOT EXISTS (SELECT 1 FROM stream_rows AS b WHERE b.run_id = r.run_id AND b.name = r.name AND b.n + b.messages = r.n)`,
    message: ([, name, n]) => `has an output stream "${name}" with no message before ${n}`,
  },
  {
    name: 'stream.chunks',
    sql: `SELECT s.run_id, s.name FROM streams s WHERE s.run_id > ? AND s.run_id <= ? AND ${KEPT}
      AND s.all_chunks <> (SELECT coalesce(sum(r.messages), 0) FROM ${ROWS} AND r.chunks IS NOT NULL)`,
    message: ([, name]) => `has an output stream "${name}" whose rows do not have as many chunks as its head says`,
  },
  {
    name: 'stream.run',
    sql: `SELECT s.run_id, s.name FROM streams s WHERE s.run_id > ? AND s.run_id <= ?
      AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = s.run_id)`,
    message: ([, name]) => `has an output stream "${name}" and does not exist`,
  },
  {
    name: 'stream.head',
    sql: `SELECT r.run_id, r.name FROM stream_rows AS r WHERE r.run_id > ? AND r.run_id <= ? AND r.n = 0
      AND NOT EXISTS (SELECT 1 FROM streams AS s WHERE s.run_id = r.run_id AND s.name = r.name AND ${KEPT})`,
    message: ([, name]) => `has rows of an output stream "${name}" without its head`,
  },
]
