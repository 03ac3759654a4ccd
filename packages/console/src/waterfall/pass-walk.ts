// The passes of a run in its timeline frames: the memo that a runner received, its answer, and where `[` and `]` stop. A pass
// begins with a `running` frame, or with the first step that, according to the engine, another pass reported. Pure, so that it
// also works on a bundle without an engine.

import { isSettledStep, type StepFrame, type TimelineFrame, type WaterfallStep } from './model.ts'

/** The frames of one pass, and those that follow until the next. The first stretch is before any pass. */
export interface PassStretch {
  /** 0 before the first pass. */
  number: number
  firstSeq: number
  lastSeq: number
  /** The frame after which the pass's answer is stored. */
  stopSeq: number
  /** Frames of the steps that the pass reported. */
  answer: readonly StepFrame[]
}

/** Returns the stretches in order. Log lines belong to none. */
export function passStretches(frames: readonly TimelineFrame[], steps: readonly WaterfallStep[]): PassStretch[] {
  const byIndex = new Map(steps.map(step => [step.index, step]))
  const stretches: Open[] = []
  let current: Open | undefined
  for (const frame of frames) {
    if (frame.kind === 'log') continue
    const step = frame.kind === 'step_status' && frame.index !== undefined ? byIndex.get(frame.index) : undefined
    const pass = frame.kind === 'step_status' ? reportedBy(frame, step) : undefined
    const begins =
      (frame.kind === 'run_status' && frame.status === 'running') ||
      (pass !== undefined && current?.pass !== undefined && pass !== current.pass)
    if (current === undefined || begins) {
      current = { number: begins ? nextNumber(stretches) : 0, first: frame.seq, last: frame.seq, answer: [] }
      stretches.push(current)
    }
    addFrame(current, frame, { step, pass })
  }
  return stretches.map(({ number, first, last, stop = last, answer }) => {
    return { number, firstSeq: first, lastSeq: last, stopSeq: stop, answer }
  })
}

interface Open {
  number: number
  first: number
  last: number
  stop?: number
  /** The engine's number of the pass. */
  pass?: number
  answer: StepFrame[]
}

const nextNumber = (stretches: readonly Open[]) => (stretches.at(-1)?.number ?? 0) + 1

function addFrame(
  stretch: Open,
  frame: TimelineFrame,
  { step, pass }: { step: WaterfallStep | undefined; pass: number | undefined },
): void {
  stretch.last = frame.seq
  if (pass !== undefined) stretch.pass = pass
  if (frame.kind === 'step_status' && isReport(frame, step)) {
    stretch.answer.push(frame)
    stretch.stop = frame.seq
  } else if (frame.kind === 'run_status' && frame.status !== 'running' && frame.status !== 'queued')
    stretch.stop = frame.seq
}

/** Returns the pass that reported a frame's content, if the step's record still has it. */
function reportedBy(frame: StepFrame, step: WaterfallStep | undefined): number | undefined {
  return step !== undefined && frame.attempt === step.attempt && isReport(frame, step) ? step.pass : undefined
}

/** Whether a runner reported a frame's content. Sleeps, waits and children settle without a runner. */
function isReport({ status }: StepFrame, step: WaterfallStep | undefined): boolean {
  if (status === 'running' || status === 'cancelled') return false
  const waits = step !== undefined && !['StepRun', 'Emit', 'Webhook'].includes(step.op)
  return !(waits && isSettledStep(status))
}

/** Returns the stretch that contains a frame. */
export function stretchAt(stretches: readonly PassStretch[], seq: number): PassStretch | undefined {
  return stretches.findLast(({ firstSeq }) => firstSeq <= seq) ?? stretches[0]
}

/** Returns the steps whose results were in the memo that the runner received with a pass. */
export function memoOf(
  stretch: PassStretch,
  frames: readonly TimelineFrame[],
  steps: readonly WaterfallStep[],
): WaterfallStep[] {
  const settled = new Set<number>()
  for (const frame of frames) {
    if (frame.seq >= stretch.firstSeq) break
    if (frame.kind !== 'step_status' || frame.index === undefined) continue
    if (frame.status === 'succeeded' || frame.status === 'failed') settled.add(frame.index)
  }
  return steps.filter(step => step.carried === true || settled.has(step.index))
}

/** Returns the stop before or after a frame; undefined after the last one, which is now. */
export function nextStop(stretches: readonly PassStretch[], seq: number | undefined, by: 1 | -1): number | undefined {
  const stops = stretches.map(({ stopSeq }) => stopSeq)
  if (seq === undefined) return by === 1 ? undefined : stops.at(-1)
  return by === 1 ? stops.find(stop => stop > seq) : (stops.findLast(stop => stop < seq) ?? stops[0])
}
