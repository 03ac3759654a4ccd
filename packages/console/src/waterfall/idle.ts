// Cuts long stretches in which nothing executes out of a run's axis, so that a run of three days with a second of work shows its
// work. The axis then uses cut time; each cut has a fixed width and keeps its real length.

import type { Bar } from './model.ts'
import type { Span } from './scale.ts'

/** The longest stretches are cut first: those over this part of the whole span, */
const WHOLE_PART_MIN = 0.05
/** and those over this part of what remains without the longer ones. */
const REST_PART_MIN = 0.25
/** The width of a cut, as a part of the span that remains. */
const CUT_PART = 0.05
/** Maximum number of cuts: more marks would hide the work between them. */
const CUTS_MAX = 12

/** One stretch that is cut out, in real milliseconds, and the position of its mark in cut time. */
export interface Cut extends Span {
  atMs: number
  widthMs: number
}

/** The axis of a run: converts real time to axis time and back. */
export interface Axis {
  all: Span
  cuts: readonly Cut[]
  place(ms: number): number
  timeOf(axisMs: number): number
}

/** Returns the axis that shows every moment. */
export function plainAxis(totalMs: number): Axis {
  const toMs = Math.max(totalMs, 1)
  return { all: { fromMs: 0, toMs }, cuts: [], place: ms => ms, timeOf: ms => ms }
}

/** Returns the axis without the idle stretches of the bars. Time before the first step counts as idle too. */
export function axisWithoutIdle(bars: readonly Bar[], totalMs: number): Axis {
  const { gaps, restMs } = longGaps(idleGaps(bars, totalMs), totalMs)
  if (gaps.length === 0) return plainAxis(totalMs)
  const widthMs = Math.max(restMs * CUT_PART, 1)
  const cuts: Cut[] = []
  let lost = 0
  for (const gap of gaps) {
    cuts.push({ ...gap, atMs: gap.fromMs - lost, widthMs })
    lost += gap.toMs - gap.fromMs - widthMs
  }
  return { all: { fromMs: 0, toMs: Math.max(totalMs - lost, 1) }, cuts, ...mapping(cuts) }
}

/** Returns the gaps to cut, in order of time, and the rest of the span without them. */
function longGaps(gaps: readonly Span[], totalMs: number): { gaps: Span[]; restMs: number } {
  const lengthOf = ({ fromMs, toMs }: Span) => toMs - fromMs
  const long: Span[] = []
  let restMs = totalMs
  for (const gap of [...gaps].sort((a, b) => lengthOf(b) - lengthOf(a))) {
    const isLong = lengthOf(gap) > totalMs * WHOLE_PART_MIN || lengthOf(gap) > restMs * REST_PART_MIN
    if (!isLong || long.length === CUTS_MAX) break
    long.push(gap)
    restMs -= lengthOf(gap)
  }
  return { gaps: long.sort((a, b) => a.fromMs - b.fromMs), restMs: Math.max(restMs, 1) }
}

function mapping(cuts: readonly Cut[]): Pick<Axis, 'place' | 'timeOf'> {
  const walk = (value: number, isReal: boolean) => {
    let shift = 0
    for (const { fromMs, toMs, atMs, widthMs } of cuts) {
      const start = isReal ? fromMs : atMs
      const end = isReal ? toMs : atMs + widthMs
      if (value < start) break
      const from = isReal ? atMs : fromMs
      const length = isReal ? widthMs : toMs - fromMs
      if (value < end) return from + ((value - start) / (end - start)) * length
      shift = from + length - end
    }
    return value + shift
  }
  return { place: ms => walk(ms, true), timeOf: ms => walk(ms, false) }
}

/** Returns stretches without a segment that executes: waits, sleeps and backoffs are idle. */
function idleGaps(bars: readonly Bar[], totalMs: number): Span[] {
  const busy = bars
    .flatMap(bar => bar.segments)
    .filter(({ kind }) => kind === 'run' || kind === 'failed' || kind === 'point')
    .map(({ fromMs, toMs = totalMs }) => ({ fromMs, toMs }))
    .sort((a, b) => a.fromMs - b.fromMs)
  const gaps: Span[] = []
  let end = 0
  for (const { fromMs, toMs } of busy) {
    if (fromMs > end) gaps.push({ fromMs: end, toMs: fromMs })
    end = Math.max(end, toMs)
  }
  if (totalMs > end) gaps.push({ fromMs: end, toMs: totalMs })
  return gaps
}
