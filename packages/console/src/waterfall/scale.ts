// The maths of the waterfall's axis: the visible part of the timeline, zooming, panning and the marks of the axis.

/** The visible part of the timeline, in milliseconds of the axis. */
export interface Span {
  fromMs: number
  toMs: number
}

/** The shortest span that a zoom shows. */
export const SPAN_MS_MIN = 1

/** Moves and shrinks a span so that it is within `all` and not shorter than `SPAN_MS_MIN`. */
export function clampSpan({ fromMs, toMs }: Span, all: Span): Span {
  const room = Math.max(all.toMs - all.fromMs, SPAN_MS_MIN)
  const width = Math.min(Math.max(toMs - fromMs, SPAN_MS_MIN), room)
  const from = Math.min(Math.max(fromMs, all.fromMs), all.fromMs + room - width)
  return { fromMs: from, toMs: from + width }
}

/** Zooms so that the time at `at` (0 to 1 of the width) stays where it is. A factor under 1 shows less. */
export function zoomAt(span: Span, factor: number, at: number, all: Span): Span {
  const width = span.toMs - span.fromMs
  const fixed = span.fromMs + width * at
  const next = Math.max(width * factor, SPAN_MS_MIN)
  return clampSpan({ fromMs: fixed - next * at, toMs: fixed + next * (1 - at) }, all)
}

/** Moves the span by a part of its width. */
export function pan(span: Span, part: number, all: Span): Span {
  const shift = (span.toMs - span.fromMs) * part
  return clampSpan({ fromMs: span.fromMs + shift, toMs: span.toMs + shift }, all)
}

/** Returns the span that shows `target` with a margin of a tenth on both sides. */
export function spanAround(target: Span, all: Span): Span {
  const margin = Math.max(target.toMs - target.fromMs, SPAN_MS_MIN * 2) / 10
  return clampSpan({ fromMs: target.fromMs - margin, toMs: target.toMs + margin }, all)
}

/** Returns the position of a time on the axis: 0 at its left end, 1 at its right end, and outside that range beyond the ends. */
export function fractionOf(ms: number, span: Span): number {
  return (ms - span.fromMs) / Math.max(span.toMs - span.fromMs, SPAN_MS_MIN)
}

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Distances of marks above a millisecond, ascending. */
const STEPS_MS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map(n => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map(n => n * MINUTE),
  ...[1, 2, 3, 6, 12].map(n => n * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map(n => n * DAY),
]

/** One mark of the axis. */
export interface Tick {
  ms: number
  label: string
}

/** Returns at most `ticksMax` marks at round times. */
export function ticksOf(span: Span, ticksMax: number): Tick[] {
  const wanted = (span.toMs - span.fromMs) / Math.max(ticksMax, 1)
  const stepMs = STEPS_MS.find(step => step >= wanted) ?? Math.ceil(wanted / (365 * DAY)) * 365 * DAY
  const ticks: Tick[] = []
  for (let n = Math.ceil(span.fromMs / stepMs); n * stepMs <= span.toMs && ticks.length <= ticksMax; n++)
    ticks.push({ ms: n * stepMs, label: tickLabel(n * stepMs, stepMs) })
  return ticks
}

/** Returns the label of a mark, exact to the distance of the marks: `1.25 s`, `2 min 5 s`, `3 d 6 h`. */
function tickLabel(ms: number, stepMs: number): string {
  if (ms === 0) return '0'
  if (ms < SECOND) return `${ms} ms`
  if (ms < MINUTE) return `${trim(ms / SECOND, stepMs)} s`
  const units = [
    [DAY, 'd'],
    [HOUR, 'h'],
    [MINUTE, 'min'],
  ] as const
  const parts: string[] = []
  let rest = ms
  for (const [unit, name] of units) {
    const count = Math.floor(rest / unit)
    rest -= count * unit
    if (count > 0) parts.push(`${count} ${name}`)
  }
  if (rest > 0) parts.push(`${trim(rest / SECOND, stepMs)} s`)
  return parts.join(' ')
}

function trim(seconds: number, stepMs: number): string {
  const digits = stepMs >= SECOND ? 0 : stepMs >= 100 ? 1 : stepMs >= 10 ? 2 : 3
  return String(Number(seconds.toFixed(digits)))
}
