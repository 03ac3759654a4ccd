// A stored log line of a run (contract §2.2). Fields are redacted before they get here.

import type { LogLevel } from '@perdure/protocol'
import type { JsonText } from '../text/json-text.ts'

export interface LogLine {
  runId: string
  seq: number
  ts: number
  level: LogLevel
  message: string
  fields?: JsonText
  scope: string
  attempt: number
  /** Counter within scope and attempt. */
  index: number
  /** Unique per run: a line that was stored once is never stored again. */
  dedupe: string
}
