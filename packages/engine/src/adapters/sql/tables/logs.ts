// The row of a stored log line, and the way there and back.

import type { LogLine } from '../../../domain/model/log-line.ts'
import type { Columns } from './columns.ts'
import type { Row } from './operations.ts'

type LogRow = [
  runId: string,
  seq: number,
  ts: number,
  level: LogLine['level'],
  message: string,
  fields: string | null,
  scope: string,
  attempt: number,
  index: number,
  dedupe: string,
]

export const LOG_COLUMNS: Columns<LogRow> = [
  'run_id',
  'seq',
  'ts',
  'level',
  'message',
  'fields',
  'scope',
  'attempt',
  'idx',
  'dedupe',
]

export function logRow(line: LogLine): LogRow {
  const { runId, seq, ts, level, message, fields, scope, attempt, index, dedupe } = line
  return [runId, seq, ts, level, message, fields ?? null, scope, attempt, index, dedupe]
}

/** Reads a row of `LOG_COLUMNS`. */
export function logFromRow(row: Row): LogLine {
  const [runId, seq, ts, level, message, fields, scope, attempt, index, dedupe] = row as LogRow
  return { runId, seq, ts, level, message, fields: fields ?? undefined, scope, attempt, index, dedupe }
}
