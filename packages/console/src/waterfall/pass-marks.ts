// The marks of a run's passes on the visible part of the axis. Passes that begin within the same few pixels share one mark, so
// that the number of marks is bounded by the width of the track.

import type { Axis } from './idle.ts'
import type { PassSpan } from './passes.ts'
import { fractionOf, type Span } from './scale.ts'

/** Passes that are drawn as one mark. */
export interface PassMark {
  /** Numbers of its first and last pass, from 1. */
  first: number
  last: number
  failed: number
  fromMs: number
  /** Absent while a pass is under way. */
  toMs?: number
  /** The runner of its passes, if it is the same for all. */
  runner?: string | undefined
}

export interface MarkOptions {
  axis: Axis
  span: Span
  /** Where open passes end. */
  endMs: number
  /** Maximum number of marks that fit on the track. */
  marksMax: number
}

/** Returns the marks of the passes within the span, in the order of their beginning. */
export function passMarks(passes: readonly PassSpan[], { axis, span, endMs, marksMax }: MarkOptions): PassMark[] {
  const marks = new Map<number, PassMark>()
  for (const [i, pass] of passes.entries()) {
    const from = fractionOf(axis.place(pass.fromMs), span)
    const to = fractionOf(axis.place(pass.toMs ?? endMs), span)
    if (to < 0 || from > 1) continue
    const part = Math.max(-1, Math.min(Math.floor(from * marksMax), marksMax - 1))
    const mark = marks.get(part)
    if (mark) join(mark, pass, i + 1)
    else marks.set(part, markOf(pass, i + 1))
  }
  return [...marks.values()]
}

function markOf({ fromMs, toMs, runner, hasFailed }: PassSpan, number: number): PassMark {
  return { first: number, last: number, failed: hasFailed ? 1 : 0, fromMs, runner, ...(toMs !== undefined && { toMs }) }
}

function join(mark: PassMark, { toMs, runner, hasFailed }: PassSpan, number: number): void {
  mark.last = number
  if (hasFailed) mark.failed++
  if (runner !== mark.runner) mark.runner = undefined
  if (toMs === undefined) delete mark.toMs
  else if (mark.toMs !== undefined) mark.toMs = Math.max(mark.toMs, toMs)
}
