// The state of a run at one of its timeline frames, for the slider that moves through them. Pure, so that it also works on a
// bundle without an engine.

import type { Bar, RunStatus, Segment, StepStatus, TimelineFrame } from './model.ts'
import { sinceOrigin } from './model.ts'

export interface Moment {
  seq: number
  ms: number
  status: RunStatus
  attempt: number
  /** Statuses of the steps up to this frame, by index. */
  steps: ReadonlyMap<number, { name: string; status: StepStatus; attempt: number }>
  /** The frame itself as text. */
  text: string
}

/**
 * Returns the seqs of the frames that change something, ascending. Log lines are not stops, and neither is progress, whose newest
 * value is kept.
 */
export function stopsOf(frames: readonly TimelineFrame[]): number[] {
  return frames.filter(({ kind }) => kind !== 'log' && kind !== 'progress').map(({ seq }) => seq)
}

/** Returns the last stop at or before `seq`; the first stop if there is none. */
export function stopAt(stops: readonly number[], seq: number): number | undefined {
  let found = stops[0]
  for (const stop of stops) {
    if (stop > seq) break
    found = stop
  }
  return found
}

/** Returns the state after the frame `seq`. Frames of steps without an index only show in its text. */
export function momentAt(frames: readonly TimelineFrame[], seq: number, originMs: number): Moment {
  const steps = new Map<number, { name: string; status: StepStatus; attempt: number }>()
  const moment: Moment = { seq, ms: 0, status: 'queued', attempt: 1, steps, text: 'the run was created' }
  for (const frame of frames) {
    if (frame.seq > seq) break
    moment.ms = sinceOrigin(frame.ts, originMs)
    if (frame.kind === 'run_status') {
      moment.status = frame.status
      moment.attempt = frame.attempt ?? moment.attempt
      moment.text = `the run is ${frame.status}`
    }
    if (frame.kind !== 'step_status') continue
    const { name, status, attempt, index } = frame
    if (index !== undefined) steps.set(index, { name, status, attempt })
    moment.text = `${name}: ${status}${attempt > 1 ? `, attempt ${attempt}` : ''}`
  }
  return moment
}

/** Returns the bars as they were at `ms`: later bars are left out, and bars that ended later are open. */
export function barsAt(bars: readonly Bar[], moment: Moment): Bar[] {
  return bars.flatMap(bar => {
    // A step that begins in the same millisecond as the frame began after it, unless an earlier frame shows the step.
    const hasBegun = bar.fromMs < moment.ms || bar.carried || moment.steps.has(bar.index)
    if (!hasBegun || bar.fromMs > moment.ms) return []
    const segments = bar.segments.filter(({ fromMs }) => fromMs <= moment.ms).map(segment => cutAt(segment, moment.ms))
    const { toMs, ...rest } = bar
    const known = moment.steps.get(bar.index)
    const status = known?.status ?? (toMs !== undefined && toMs <= moment.ms ? bar.status : 'running')
    const hasEnded = toMs !== undefined && toMs <= moment.ms
    return [{ ...rest, status, attempt: known?.attempt ?? 1, segments, ...(hasEnded ? { toMs } : {}) }]
  })
}

function cutAt(segment: Segment, ms: number): Segment {
  if (segment.toMs === undefined || segment.toMs <= ms) return segment
  const { toMs: _, error: __, ...open } = segment
  return open.kind === 'failed' ? { ...open, kind: 'run' } : open
}
