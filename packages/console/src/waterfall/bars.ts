// Builds the bars of the waterfall from a run's steps and timeline frames. Attempts come from the engine if it sends them;
// otherwise they are derived from the frames: a `retrying` frame ends an attempt, and the run's next `running` frame starts the
// pass of the following one.

import {
  type Bar,
  isSettledStep,
  type Segment,
  type SegmentKind,
  type StatusFrame,
  type StepFrame,
  sinceOrigin,
  type TimelineFrame,
  type WaterfallStep,
} from './model.ts'

/** The frames of a run, sorted for `barsOf`. */
export interface FrameIndex {
  statuses: readonly StatusFrame[]
  /** Frames of steps by the step's index, in order of seq. */
  byStep: ReadonlyMap<number, readonly StepFrame[]>
}

/** Sorts frames by their subject. Step frames without an index are left out: only the step's record is drawn. */
export function indexFrames(frames: readonly TimelineFrame[]): FrameIndex {
  const statuses: StatusFrame[] = []
  const byStep = new Map<number, StepFrame[]>()
  for (const frame of frames) {
    if (frame.kind === 'run_status') statuses.push(frame)
    if (frame.kind !== 'step_status' || frame.index === undefined) continue
    const own = byStep.get(frame.index)
    if (own) own.push(frame)
    else byStep.set(frame.index, [frame])
  }
  return { statuses, byStep }
}

/** Returns the bars of the steps, in execution order. `originMs` is the run's creation in epoch milliseconds. */
export function barsOf(steps: readonly WaterfallStep[], frames: FrameIndex, originMs: number): Bar[] {
  const starts = frames.statuses.filter(({ status }) => status === 'running').map(({ ts }) => sinceOrigin(ts, originMs))
  const uses = new Map<string, number>()
  return steps.map(step => {
    const use = uses.get(step.name) ?? 0
    uses.set(step.name, use + 1)
    const segments = segmentsOf(step, { frames: frames.byStep.get(step.index) ?? [], starts, originMs })
    const first = segments[0] as Segment
    const last = segments[segments.length - 1] as Segment
    return {
      id: step.id,
      label: use === 0 ? step.name : `${step.name}:${use}`,
      name: step.name,
      op: step.op,
      index: step.index,
      status: step.status,
      attempt: step.attempt,
      ...(step.maxAttempts === undefined ? {} : { maxAttempts: step.maxAttempts }),
      carried: step.carried === true,
      ...(step.rollback === true ? { rollback: true as const } : {}),
      segments,
      fromMs: first.fromMs,
      // The last segment of a step that is retried ends with the next attempt, but the step does not.
      ...(last.toMs === undefined || step.status === 'retrying' ? {} : { toMs: last.toMs }),
      ...(step.childRunId === undefined ? {} : { childRunId: step.childRunId }),
      ...(step.error === undefined ? {} : { error: step.error.message }),
    }
  })
}

interface Context {
  frames: readonly StepFrame[]
  /** When passes of the run started, ascending. */
  starts: readonly number[]
  originMs: number
}

const KINDS: Record<WaterfallStep['op'], SegmentKind> = {
  StepRun: 'run',
  Sleep: 'sleep',
  SleepUntil: 'sleep',
  WaitForEvent: 'wait',
  WaitForSignal: 'wait',
  ReplyToUpdate: 'point',
  WaitForCallback: 'wait',
  WaitForRun: 'wait',
  RunWorkflow: 'wait',
  StartRun: 'point',
  CancelRun: 'point',
  Emit: 'point',
  Webhook: 'point',
}

/** Returns the segments of a step, at least one. Ops that this version does not know are drawn as waits. */
function segmentsOf(step: WaterfallStep, context: Context): Segment[] {
  const kind = (KINDS as Record<string, SegmentKind | undefined>)[step.op] ?? 'wait'
  // A carried step was executed before this run: it takes no time here.
  if (step.carried) return [{ kind, fromMs: 0, toMs: 0, attempt: step.attempt }]
  const fromMs = sinceOrigin(step.startedAt, context.originMs)
  const toMs = step.finishedAt === undefined ? undefined : sinceOrigin(step.finishedAt, context.originMs)
  if (kind === 'point') return [{ kind, fromMs, toMs: fromMs, attempt: step.attempt }]
  if (kind !== 'run') return [{ kind, fromMs, ...(toMs === undefined ? {} : { toMs }), attempt: step.attempt }]
  return attemptSegments(attemptsOf(step, context, { fromMs, toMs }), step, context)
}

/** One attempt in milliseconds. An open attempt has no end. */
interface Attempt {
  attempt: number
  fromMs: number
  toMs?: number
  error?: string
}

function attemptsOf(
  step: WaterfallStep,
  context: Context,
  span: { fromMs: number; toMs: number | undefined },
): Attempt[] {
  const { originMs } = context
  if (step.attempts?.some(({ ranAt }) => ranAt !== undefined)) {
    return step.attempts.flatMap(({ attempt, ranAt, ranMs, error }) =>
      ranAt === undefined ? [] : [{ attempt, ...ranSpan(ranAt, ranMs, originMs), ...textOf(error) }],
    )
  }
  const earlier = failedAttempts(context, span.fromMs)
  const lastFailure = earlier[earlier.length - 1]
  if (step.status === 'retrying') return earlier.length > 0 ? earlier : [{ attempt: step.attempt, fromMs: span.fromMs }]
  const fromMs = lastFailure === undefined ? span.fromMs : startAfter(context.starts, lastFailure.toMs ?? 0, span.toMs)
  const derived = { attempt: step.attempt, fromMs, ...(span.toMs === undefined ? {} : { toMs: span.toMs }) }
  const last = step.ranAt === undefined ? derived : { ...derived, ...ranSpan(step.ranAt, step.ranMs, originMs) }
  return [...earlier, { ...last, ...textOf(step.error) }]
}

function ranSpan(ranAt: string, ranMs: number | undefined, originMs: number) {
  const fromMs = sinceOrigin(ranAt, originMs)
  return { fromMs, ...(ranMs === undefined ? {} : { toMs: fromMs + ranMs }) }
}

const textOf = (error: { message: string } | undefined) => (error === undefined ? {} : { error: error.message })

/** Returns the attempts that `retrying` frames ended. */
function failedAttempts({ frames, starts, originMs }: Context, firstMs: number): Attempt[] {
  const attempts: Attempt[] = []
  for (const { status, attempt, ts, error } of frames) {
    if (status !== 'retrying') continue
    const toMs = sinceOrigin(ts, originMs)
    const before = attempts[attempts.length - 1]
    const fromMs = before === undefined ? Math.min(firstMs, toMs) : startAfter(starts, before.toMs ?? 0, toMs)
    attempts.push({ attempt, fromMs, toMs, error: error?.message ?? 'failed' })
  }
  return attempts
}

/** Returns the last start of a pass after `afterMs` and not after `untilMs`; if there is none, `afterMs`. */
function startAfter(starts: readonly number[], afterMs: number, untilMs = Number.POSITIVE_INFINITY): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((starts[middle] as number) <= untilMs) low = middle + 1
    else high = middle
  }
  const found = starts[low - 1]
  return found === undefined || found < afterMs ? afterMs : found
}

/** Draws attempts, and the time between them as backoff. */
function attemptSegments(attempts: readonly Attempt[], step: WaterfallStep, { originMs }: Context): Segment[] {
  const segments: Segment[] = []
  for (const [i, one] of attempts.entries()) {
    const isLast = i === attempts.length - 1
    const hasFailed = !isLast || step.status === 'failed' || step.status === 'retrying'
    segments.push({ ...one, kind: hasFailed && one.toMs !== undefined ? 'failed' : 'run' })
    const next = attempts[i + 1]
    if (one.toMs === undefined) continue
    if (next && next.fromMs > one.toMs)
      segments.push({ kind: 'backoff', fromMs: one.toMs, toMs: next.fromMs, attempt: one.attempt })
    if (isLast && step.status === 'retrying') segments.push(openBackoff(one.toMs, one.attempt, step, originMs))
  }
  const last = segments[segments.length - 1]
  if (last && last.toMs !== undefined && !isSettledStep(step.status) && step.status === 'running') delete last.toMs
  return segments
}

function openBackoff(fromMs: number, attempt: number, step: WaterfallStep, originMs: number): Segment {
  const until = step.nextAttemptAt === undefined ? undefined : sinceOrigin(step.nextAttemptAt, originMs)
  return { kind: 'backoff', fromMs, attempt, ...(until === undefined ? {} : { toMs: Math.max(fromMs, until) }) }
}
