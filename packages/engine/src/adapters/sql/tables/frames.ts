// The table of the timeline frames that no other row contains: a run's moves between its first start and its end, statuses of
// steps that are not final, and every status of a step that may settle more than once. Also reads the rows of a timeline page,
// from any table, as frames.

import type { LogLevel, RunError, RunStatus, StepError, StepStatus } from '@perdure/protocol'
import type { PassSent, RanTimes } from '../../../domain/model/step.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { runFrame, type StoredFrame, stepFrame } from '../../../domain/view/timeline-frames.ts'
import { integer, json, optional, since, text } from '../description/column.ts'
import { table } from '../description/table.ts'
import type { Row } from '../description/values.ts'
import { PASS_COLUMNS, RAN_COLUMNS } from './pass-columns.ts'

/** A frame of a run, or of a step if it has a step index. */
interface Frame extends Partial<PassSent & RanTimes> {
  runId: string
  seq: number
  ts: number
  status: RunStatus | StepStatus
  attempt: number
  maxAttempts?: number
  stepIndex?: number
  error?: RunError | StepError
}

export const FRAMES = table<Frame>()('frames', {
  key: ['run_id', 'seq'],
  fixed: {
    runId: text,
    seq: integer,
    ts: integer,
    status: text,
    attempt: integer,
    maxAttempts: since(2, optional(integer)),
    stepIndex: optional(integer),
    ...PASS_COLUMNS,
    ...RAN_COLUMNS,
    error: optional(json),
  },
})

/** A row of a timeline page. */
type TimelineRow = [
  kind: 'run_status' | 'step_status' | 'log' | 'progress',
  seq: number,
  ts: number,
  /** A status, or a log line's level. */
  status: string,
  attempt: number,
  /** A step's name, or a log line's scope. */
  name: string | null,
  index: number | null,
  /** The error of a step or a run, a log line's fields, or a progress, as JSON text. */
  detail: string | null,
  message: string | null,
  /** The last attempt of a step, or the runner's time of a log line. */
  more?: number | null,
]

export function frameFromRow(runId: string, row: Row): StoredFrame {
  const [kind, seq, time, status, attempt, name, index, detail, message, more = null] = row as TimelineRow
  if (kind === 'run_status') {
    const error = detail === null ? {} : { error: JSON.parse(detail) as RunError }
    return runFrame(runId, { seq, ts: time, status: status as RunStatus, attempt, ...error })
  }
  if (kind === 'step_status') {
    const error = detail === null ? undefined : (JSON.parse(detail) as StepError)
    const step = { seq, ts: time, name: name ?? '', status: status as StepStatus, attempt }
    return stepFrame(runId, { ...step, index: index ?? undefined, maxAttempts: more ?? undefined, error })
  }
  const ts = new Date(time).toISOString()
  if (kind === 'progress') return { kind, seq, ts, runId: shownRunId(runId), value: detail ?? 'null' }
  const own = more === null ? {} : { tsMs: more }
  const line = { ...own, level: status as LogLevel, message: message ?? '', scope: name ?? '', attempt }
  return { kind, seq, ts, runId: shownRunId(runId), ...line, ...(detail === null ? {} : { fields: detail }) }
}
