// Derives the timeline frames of a run from a unit, with the same seqs as in the stored timeline. A stream that has sent all
// earlier frames can send these without a read. Called by services/commit/announce; the store uses the same shapes.

import type { RunError, TimelineFrame } from '@perdure/protocol'
import { cutText } from '@perdure/protocol'
import type { Change, RunStatusFrame } from '../model/change.ts'
import { isTerminal, type Run, type RunProgress } from '../model/run.ts'
import { firstSeq } from '../model/seq.ts'
import { isSettled, type Step } from '../model/step.ts'
import { shownRunId } from '../text/ids.ts'
import { splice } from '../text/json-splice.ts'
import type { JsonText } from '../text/json-text.ts'

type LogFrame = Extract<TimelineFrame, { kind: 'log' }>
type WireProgressFrame = Extract<TimelineFrame, { kind: 'progress' }>
/** A frame of a progress, whose value is kept as JSON text. */
export type ProgressFrame = Omit<WireProgressFrame, 'value'> & { value: JsonText }
/** A frame that can be derived from a unit. Frames of log lines come only from the store. */
export type DerivedFrame = Exclude<TimelineFrame, LogFrame | WireProgressFrame> | ProgressFrame
/** A frame from the store: log fields are kept as JSON text. */
export type StoredFrame = DerivedFrame | (Omit<LogFrame, 'fields'> & { fields?: JsonText })

type StepFrame = Pick<Step, 'seq' | 'name' | 'status' | 'attempt' | 'error'> & {
  ts: number
  maxAttempts?: number | undefined
  index?: number | undefined
}

export function runFrame(runId: string, { seq, ts, status, attempt, error }: RunStatusFrame): DerivedFrame {
  const kind = 'run_status' as const
  const frame = { kind, seq, ts: new Date(ts).toISOString(), runId: shownRunId(runId), status, attempt }
  return error === undefined ? frame : { ...frame, error }
}

/** Maximum lengths of an error in a frame of a run, and of the error that a run stores of its last failed pass. */
const FRAME_MESSAGE_CHARS_MAX = 1000
const FRAME_STACK_CHARS_MAX = 8000

/** The error of a run or a pass, cut to the lengths in a frame. */
export function frameError({ message, stack, name, code, stepName }: RunError): RunError {
  return {
    message: cutText(message, FRAME_MESSAGE_CHARS_MAX, '…'),
    ...(name !== undefined && { name: cutText(name, FRAME_MESSAGE_CHARS_MAX, '…') }),
    ...(code !== undefined && { code }),
    ...(stepName !== undefined && { stepName }),
    ...(stack !== undefined && { stack: cutText(stack, FRAME_STACK_CHARS_MAX, '…') }),
  }
}

export function progressFrame(runId: string, { seq, at, value }: RunProgress): ProgressFrame {
  return { kind: 'progress', seq, ts: new Date(at).toISOString(), runId: shownRunId(runId), value }
}

export function stepFrame(runId: string, frame: StepFrame): DerivedFrame {
  const { seq, ts, name, status, attempt, maxAttempts, index, error } = frame
  return {
    kind: 'step_status',
    seq,
    ts: new Date(ts).toISOString(),
    runId: shownRunId(runId),
    name,
    status,
    attempt,
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(index === undefined ? {} : { index }),
    ...(error === undefined ? {} : { error }),
  }
}

/** The run_status frames of a change, in order of seq. The stream of all runs of a namespace sends these. */
export function statusFrames(change: Extract<Change, { type: 'run.created' | 'run.moved' }>): RunStatusFrame[] {
  const { run } = change
  const isNew = change.type === 'run.created'
  const frames: RunStatusFrame[] = isNew
    ? [{ seq: firstSeq(0), ts: run.createdAt, status: 'queued' as const, attempt: 1 }]
    : [...change.frames]
  if (isNew || change.started) {
    const { startedSeq: seq, startedAt: ts } = run
    if (seq !== undefined && ts !== undefined) frames.push({ seq, ts, status: 'running', attempt: 1 })
  }
  // An ended run never moves again, so this change ended it.
  const { finishedSeq: seq, finishedAt: ts, status, attempt } = run
  if (isTerminal(status) && seq !== undefined && ts !== undefined) {
    const error = run.error && { error: frameError(run.error) }
    frames.push({ seq, ts, status, attempt, ...error })
  }
  return frames.sort((a, b) => a.seq - b.seq)
}

/** Maximum length of an error message in the stream of a namespace, in code points. */
const MOVE_MESSAGE_CHARS_MAX = 200

/** The error of a run in the stream of its namespace: cut, and without a stack. */
export type MoveError = Pick<NonNullable<Run['error']>, 'message' | 'code' | 'stepName'>

export function moveError({ error }: Pick<RunStatusFrame, 'error'>): MoveError | undefined {
  if (error === undefined) return undefined
  const { message, code, stepName } = error
  return {
    message: cutText(message, MOVE_MESSAGE_CHARS_MAX),
    ...(code !== undefined && { code }),
    ...(stepName !== undefined && { stepName }),
  }
}

/**
 * The run's frames in order of seq. Undefined when only the store knows them: it assigns the seqs of a wake, and does not store
 * a log line twice.
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
    } else if (change.type === 'run.progressed') {
      if (change.run.id === runId) frames.push(progressFrame(runId, change.progress))
    } else if (isKnownToStoreOnly(change, runId)) return undefined
  }
  return frames.sort((a, b) => a.seq - b.seq)
}

function isKnownToStoreOnly(change: Change, runId: string): boolean {
  if (change.type === 'log.written') return change.line.runId === runId
  if (change.type === 'run.created') return change.run.id === runId
  return change.type === 'step.woken' && change.runId === runId
}

/** The frame as JSON, without line breaks. */
export function frameText(frame: StoredFrame): JsonText {
  if (frame.kind === 'progress') return progressText(frame)
  if (frame.kind !== 'log' || frame.fields === undefined) return JSON.stringify(frame)
  const { fields, ...head } = frame
  return splice(head, { fields: onOneLine(fields) })
}

/** The frame of a progress as JSON, without line breaks. */
export function progressText({ value, ...head }: ProgressFrame): JsonText {
  return splice(head, { value: onOneLine(value) })
}

/** Replaces line breaks, which in JSON are only between tokens and mean the same as a space there. */
function onOneLine(text: JsonText): JsonText {
  return text.replace(/[\r\n]/g, ' ')
}
