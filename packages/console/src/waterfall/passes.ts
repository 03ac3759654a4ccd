// The passes of a run as its frames show them: from each `running` frame to the next change of the run's status; and the spans of
// both kinds of passes that the timeline draws above its rows.

import type { PassRecord } from '@perdure/protocol'
import { type RunStatus, type StepStatus, sinceOrigin, type TimelineFrame } from './model.ts'

export interface PassOfFrames {
  /** The frame that started the pass. */
  seq: number
  fromMs: number
  /** Absent while the pass is under way. */
  toMs?: number
  attempt: number
  steps: { seq: number; name: string; status: StepStatus }[]
  /** The run's status after the pass. */
  next?: RunStatus
  error?: string
}

/** Returns the passes, first to last. Passes that follow each other without a change of the status count as one. */
export function passesOf(frames: readonly TimelineFrame[], originMs: number): PassOfFrames[] {
  const passes: PassOfFrames[] = []
  let open: PassOfFrames | undefined
  for (const frame of frames) {
    if (frame.kind === 'step_status') open?.steps.push({ seq: frame.seq, name: frame.name, status: frame.status })
    if (frame.kind !== 'run_status') continue
    const ms = sinceOrigin(frame.ts, originMs)
    if (open) {
      open.toMs = ms
      open.next = frame.status
      if (frame.error) open.error = frame.error.message
      open = undefined
    }
    if (frame.status !== 'running') continue
    open = { seq: frame.seq, fromMs: ms, attempt: frame.attempt ?? 1, steps: [] }
    passes.push(open)
  }
  return passes
}

/** One pass on the axis: which runner had it, from when to when. */
export interface PassSpan {
  fromMs: number
  /** Absent while the pass is under way. */
  toMs?: number
  runner?: string
  hasFailed: boolean
}

/** Returns the passes as the engine lists them. */
export function spansOfRecords(passes: readonly PassRecord[], originMs: number): PassSpan[] {
  return passes.map(({ sentAt, answeredAt, runner, outcome }) => {
    // A failed pass may have no answer, but it is over.
    const endedAt = answeredAt ?? (outcome === 'running' ? undefined : sentAt)
    return {
      fromMs: sinceOrigin(sentAt, originMs),
      ...(endedAt === undefined ? {} : { toMs: sinceOrigin(endedAt, originMs) }),
      runner,
      hasFailed: outcome === 'failed',
    }
  })
}

/** Returns the passes as frames show them. */
export function spansOfFrames(frames: readonly TimelineFrame[], originMs: number): PassSpan[] {
  return passesOf(frames, originMs).map(({ fromMs, toMs, error }) => ({
    fromMs,
    ...(toMs === undefined ? {} : { toMs }),
    hasFailed: error !== undefined,
  }))
}
