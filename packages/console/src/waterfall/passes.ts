// The passes of a run as its frames show them: from each `running` frame to the next change of the run's status.

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

/** The passes, first to last. Passes that follow each other without a change of the status count as one. */
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
