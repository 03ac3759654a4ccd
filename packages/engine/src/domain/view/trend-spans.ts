// The spans of a trend of runs: equal parts of a window of time, whose limits are also limits of counted spans, so that counts
// need no estimate. Used by the statistics of workflows.

import { type SeriesStep, SPAN_KEPT_MS, SPAN_MS } from './rollup-span.ts'

/** The lengths below a day; longer spans are whole days. Each has at most 6 counted spans. */
const LENGTHS_MS = [SPAN_MS['5m'], 3 * SPAN_MS['5m'], SPAN_MS['1h'], 3 * SPAN_MS['1h'], 6 * SPAN_MS['1h']] as const

/** Equal spans of time, one after the other, the first one from `from`. */
export interface TrendSpans {
  from: number
  spanMs: number
  count: number
  /** The longest counted span into which each of them can be divided. */
  step: SeriesStep
}

/** The shortest spans of which at most `most` cover the window. They begin at multiples of their length since 1970. */
export function trendSpans(window: { since: number; until: number }, most: number, now: number): TrendSpans {
  const { since, until } = window
  const spansOf = (spanMs: number): TrendSpans => {
    const from = Math.floor(since / spanMs) * spanMs
    return { from, spanMs, count: Math.max(1, Math.ceil((until - from) / spanMs)), step: stepOf(spanMs) }
  }
  for (const lengthMs of LENGTHS_MS) {
    const spans = spansOf(lengthMs)
    if (spans.count <= most && isKept(spans.step, since, now)) return spans
  }
  let spans = spansOf(SPAN_MS['1d'])
  while (spans.count > most) spans = spansOf(spans.spanMs + SPAN_MS['1d'])
  return spans
}

/** The number of the span that contains the time; a time after all spans counts in the last one. */
export function spanOf({ from, spanMs, count }: TrendSpans, at: number): number {
  return Math.min(count - 1, Math.floor((at - from) / spanMs))
}

function stepOf(spanMs: number): SeriesStep {
  return spanMs % SPAN_MS['1d'] === 0 ? '1d' : spanMs % SPAN_MS['1h'] === 0 ? '1h' : '5m'
}

function isKept(step: SeriesStep, since: number, now: number): boolean {
  return step === '1d' || since >= now - SPAN_KEPT_MS[step]
}
