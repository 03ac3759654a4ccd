// A stored log line of a run (docs/concepts.md#logs). Its fields are already redacted.

import type { LogLevel } from '@perdure/protocol'
import { boundedKey } from '../text/bounded-key.ts'
import type { JsonText } from '../text/json-text.ts'

export interface LogLine {
  runId: string
  seq: number
  ts: number
  /** When the runner wrote it, by the runner's clock. */
  tsMs?: number
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

/** The key that keeps a step's line from being stored twice. Step ids may have any length. */
export function stepLineKey(stepId: string, attempt: number, index: number): string {
  return `${boundedKey(stepId)}#${attempt}#${index}`
}
