// The rows of the timeline frames that no other row tells: a run's moves between its first start and its end, and
// statuses of steps that are not final. And a timeline page's rows, whatever they come from, as frames.

import type { LogLevel, RunStatus, StepError, StepStatus } from '@perdure/protocol'
import type { RunStatusFrame } from '../../../domain/model/change.ts'
import type { Step } from '../../../domain/model/step.ts'
import { runFrame, type StoredFrame, stepFrame } from '../../../domain/view/timeline-frames.ts'
import { type Columns, fromJson, toJson } from './columns.ts'
import type { Row } from './operations.ts'

type FrameRow = [
  runId: string,
  seq: number,
  ts: number,
  status: string,
  attempt: number,
  stepIndex: number | null,
  error: string | null,
]

export const FRAME_COLUMNS: Columns<FrameRow> = [
  'run_id',
  'seq',
  'ts',
  'status',
  'attempt',
  'step_index',
  'error',
]

export function runFrameRow(runId: string, frame: RunStatusFrame): FrameRow {
  return [runId, frame.seq, frame.ts, frame.status, frame.attempt, null, null]
}

/** The frame of a step that is not settled; the frame of a settled one is read from its own row. */
export function stepFrameRow(step: Step, ts: number): FrameRow {
  const { runId, seq, status, attempt, index, error } = step
  return [runId, seq, ts, status, attempt, index, toJson(error)]
}

/** A row of a timeline page. */
type TimelineRow = [
  kind: 'run_status' | 'step_status' | 'log',
  seq: number,
  ts: number,
  /** A status, or a log line's level. */
  status: string,
  attempt: number,
  /** A step's name, or a log line's scope. */
  name: string | null,
  index: number | null,
  /** A step's error or a log line's fields, as JSON text. */
  detail: string | null,
  message: string | null,
]

export function frameFromRow(runId: string, row: Row): StoredFrame {
  const [kind, seq, time, status, attempt, name, index, detail, message] = row as TimelineRow
  if (kind === 'run_status') return runFrame(runId, { seq, ts: time, status: status as RunStatus, attempt })
  if (kind === 'step_status') {
    const error = fromJson<StepError>(detail)
    const told = { seq, ts: time, name: name ?? '', status: status as StepStatus, attempt }
    return stepFrame(runId, { ...told, index: index ?? undefined, error })
  }
  const ts = new Date(time).toISOString()
  const told = { level: status as LogLevel, message: message ?? '', scope: name ?? '', attempt }
  return { kind, seq, ts, runId, ...told, ...(detail === null ? {} : { fields: detail }) }
}
