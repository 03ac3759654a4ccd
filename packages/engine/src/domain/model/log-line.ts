// A stored log line of a run (docs/concepts.md#logs). Its fields are already redacted.

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
  /** Unique per run, so that a line is stored once however often a replay repeats it. */
  dedupe: string
}
