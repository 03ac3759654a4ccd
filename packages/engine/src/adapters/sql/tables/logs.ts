// The table of stored log lines.

import type { LogLine } from '../../../domain/model/log-line.ts'
import { integer, named, optional, since, text } from '../description/column.ts'
import { table } from '../description/table.ts'

export const LOGS = table<LogLine>()('logs', {
  key: ['run_id', 'seq'],
  unique: [['run_id', 'dedupe']],
  fixed: {
    runId: text,
    seq: integer,
    ts: integer,
    level: text,
    message: text,
    fields: optional(text),
    scope: text,
    attempt: integer,
    index: named('idx', integer),
    dedupe: text,
    tsMs: since(3, optional(integer)),
  },
  // A claim counts the lines of the handler itself.
  indexes: { logs_root: { on: 'run_id, idx', where: `scope = '@root'` } },
})
