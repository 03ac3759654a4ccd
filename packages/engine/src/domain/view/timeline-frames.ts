// The timeline frames that a unit tells of a run, from the same rows and seqs as the stored timeline, so that a stream
// which has all that came before can send them without reading. Read by services/commit/announce; the shapes are shared with
// the rows of stored frames.

import type { TimelineFrame } from '@perdure/protocol'
import type { Change, RunStatusFrame } from '../model/change.ts'
import { isSettled, type Step } from '../model/step.ts'
import { splice } from '../text/json-splice.ts'
import type { JsonText } from '../text/json-text.ts'
import { statusFrames } from './status-frames.ts'

type LogFrame = Extract<TimelineFrame, { kind: 'log' }>
/** A frame that a unit may tell of: log lines are told by the store alone. */
export type DerivedFrame = Exclude<TimelineFrame, LogFrame>
/** A frame whose log fields are the text they came in. */
export type StoredFrame = DerivedFrame | (Omit<LogFrame, 'fields'> & { fields?: JsonText })

type StepFrame = Pick<Step, 'seq' | 'name' | 'status' | 'attempt' | 'error'> & {
  ts: number
  index?: number | undefined
}

export function runFrame(runId: string, { seq, ts, status, attempt }: RunStatusFrame): DerivedFrame {
  return { kind: 'run_status', seq, ts: new Date(ts).toISOString(), runId, status, attempt }
}

export function stepFrame(runId: string, frame: StepFrame): DerivedFrame {
  const { seq, ts, name, status, attempt, index, error } = frame
  return {
    kind: 'step_status',
    seq,
    ts: new Date(ts).toISOString(),
    runId,
    name,
    status,
    attempt,
    ...(index === undefined ? {} : { index }),
    ...(error === undefined ? {} : { error }),
  }
}

/**
 * In order of seq. Undefined when only the store knows them: a wake gets its seqs there, and a log line that was stored
 * before is not stored again.
 */
export function derivedFrames(changes: readonly Change[], runId: string): DerivedFrame[] | undefined {
  const frames: DerivedFrame[] = []
  for (const change of changes) {
    if (change.type === 'run.moved' && change.run.id === runId) {
      for (const frame of statusFrames(change)) frames.push(runFrame(runId, frame))
    } else if (change.type === 'step.recorded' || change.type === 'step.moved') {
      const { step, at = step.startedAt } = change
      if (step.runId !== runId) continue
      const ts = isSettled(step.status) ? (step.finishedAt ?? at) : at
      frames.push(stepFrame(runId, { ...step, ts }))
    } else if (isUntold(change, runId)) return undefined
  }
  return frames.sort((a, b) => a.seq - b.seq)
}

function isUntold(change: Change, runId: string): boolean {
  if (change.type === 'log.written') return change.line.runId === runId
  if (change.type === 'run.created') return change.run.id === runId
  return change.type === 'step.woken' && change.runId === runId
}

/** The frame as JSON, without line breaks. */
export function frameText(frame: StoredFrame): JsonText {
  if (frame.kind !== 'log' || frame.fields === undefined) return JSON.stringify(frame)
  const { fields, ...told } = frame
  // They may have come over several lines. Between the tokens of JSON a space is as good.
  return splice(told, { fields: fields.replace(/[\r\n]/g, ' ') })
}
