// The tables of append data: the output streams of runs, and the rows of their messages (docs/decisions/0063-append-data.md).

import type { StreamHead, StreamRow } from '../../../../domain/model/stream/stream.ts'
import { flag, integer, json, named, optional, text } from '../../description/column.ts'
import { table } from '../../description/table.ts'

export const STREAMS = table<StreamHead>()('streams', {
  key: ['run_id', 'name'],
  since: 3,
  fixed: { runId: text, name: text, firstAt: integer },
  moving: {
    next: integer,
    chunks: integer,
    bytes: integer,
    allChunks: integer,
    allBytes: integer,
    lastAt: integer,
    open: json,
    dropped: flag,
  },
  // Retention finds streams by it. Appends leave it as it is.
  indexes: { streams_begun: { on: 'first_at', where: 'dropped IS NULL' } },
})

export const STREAM_ROWS = table<StreamRow>()('stream_rows', {
  key: ['run_id', 'name', 'n'],
  since: 3,
  fixed: {
    runId: text,
    name: text,
    n: integer,
    count: named('messages', integer),
    step: text,
    attempt: integer,
    at: integer,
    chunks: optional(text),
    // `rollback` is a word of SQL.
    rollback: named('withdrawn_from', optional(integer)),
    reason: optional(text),
  },
})

/** Rows of one stream. Parameters: run, name, the first number, the number behind the last one. */
const ROWS = 'FROM stream_rows AS merged WHERE run_id = ? AND name = ? AND n >= ?i AND n < ?i'

/** Statements that make one row of several, for the table of operations. */
export const MERGE_OPERATIONS = {
  'streamRows.merge': `UPDATE stream_rows SET chunks = (SELECT string_agg(chunks, ',' ORDER BY n) ${ROWS}),
    messages = (SELECT sum(messages) ${ROWS}) WHERE run_id = ? AND name = ? AND n = ?i`,
  'streamRows.drop': 'DELETE FROM stream_rows WHERE run_id = ? AND name = ? AND n > ?i AND n < ?i',
} as const
