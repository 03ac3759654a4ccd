// The form of a run's timeline as the waterfall draws it: bars with their segments. Times are milliseconds since the
// run was created. `bars.ts` builds them from the records of the API.

import type { RunStatus, StepRecord, TimelineFrame } from '@perdure/protocol'

/**
 * How a segment is drawn: `run` solid, `failed` notched, `backoff` hatched, `wait` outlined, `sleep` dotted, `point` a
 * diamond.
 */
export type SegmentKind = 'run' | 'failed' | 'backoff' | 'wait' | 'sleep' | 'point'

/** One stretch of a bar. An open segment has no end. */
export interface Segment {
  kind: SegmentKind
  fromMs: number
  toMs?: number
  /** The attempt of the step that this stretch belongs to. */
  attempt: number
  error?: string
}

/** One attempt of a step, from the engine or derived from the frames. */
export interface StepAttempt {
  attempt: number
  ranAt?: string
  ranMs?: number
  finishedAt?: string
  error?: { message: string; name?: string | undefined; stack?: string | undefined }
  runner?: string
}

/** A step with fields that only some engines send: true times and attempts. */
export type WaterfallStep = StepRecord & {
  ranAt?: string
  ranMs?: number
  runner?: string
  pass?: number
  attempts?: readonly StepAttempt[]
}

export type StepStatus = StepRecord['status']

/** One step of the waterfall. */
export interface Bar {
  id: string
  /** The step's name, with `:n` for the n-th repeat of a name. */
  label: string
  name: string
  op: StepRecord['op']
  index: number
  status: StepStatus
  attempt: number
  /** Absent while no attempt failed. */
  maxAttempts?: number
  carried: boolean
  /** A rollback undoes the step when the run fails or is cancelled. */
  rollback?: true
  segments: readonly Segment[]
  fromMs: number
  /** Absent while the step is open. */
  toMs?: number
  childRunId?: string
  error?: string
}

export type StepFrame = Extract<TimelineFrame, { kind: 'step_status' }>
export type StatusFrame = Extract<TimelineFrame, { kind: 'run_status' }>
export type LogFrame = Extract<TimelineFrame, { kind: 'log' }>
export type { RunStatus, StepRecord, TimelineFrame }

/** Whether a step with this status no longer changes. */
export function isSettledStep(status: StepStatus): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled'
}

/** Returns milliseconds from `originMs` to a timestamp of the API. */
export function sinceOrigin(timestamp: string, originMs: number): number {
  return Date.parse(timestamp) - originMs
}
