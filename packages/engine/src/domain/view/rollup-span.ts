// The spans of time for which ended runs are counted, and how long each is kept. Used by the roll-ups and their routes.

import type { SERIES_STEPS } from '@perdure/protocol'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Lengths of the spans. `all` is one span for all time. */
export const SPAN_MS = { '5m': 5 * MINUTE_MS, '1h': HOUR_MS, '1d': DAY_MS } as const satisfies Record<
  SeriesStep,
  number
>

export type SeriesStep = (typeof SERIES_STEPS)[number]
export type RollupSpan = SeriesStep | 'all'

/** How long spans are kept after they began; the others are kept for ever. */
export const SPAN_KEPT_MS = { '5m': 8 * DAY_MS, '1h': 400 * DAY_MS } as const

/** The beginning of the span that contains the time. */
export function spanStart(step: SeriesStep, at: number): number {
  return Math.floor(at / SPAN_MS[step]) * SPAN_MS[step]
}

/** Spans of one length that begin at `from` or later, and before `until`. */
export interface SpanRange {
  span: RollupSpan
  from: number
  until: number
}

/** The time from which `totalRanges` counts for a `since`: the start of the finest span that is still kept. */
export function totalSince(since: number, now: number): number {
  const step = since >= now - SPAN_KEPT_MS['5m'] ? '5m' : since >= now - SPAN_KEPT_MS['1h'] ? '1h' : '1d'
  return spanStart(step, since)
}

/** A day after all others. */
const END = spanStart('1d', Number.MAX_SAFE_INTEGER)

/**
 * Ranges that together contain everything from a time of `totalSince` until another time, with few spans, each at most as long
 * as `longest`. Without times they contain all time.
 */
export function totalRanges(since: number | undefined, until = END, longest: RollupSpan = 'all'): SpanRange[] {
  if (since === undefined && until === END && longest === 'all') return [{ span: 'all', from: 0, until: END }]
  const from = since ?? 0
  if (longest === '5m') return [{ span: '5m', from, until }]
  const hour = Math.min(Math.ceil(from / HOUR_MS) * HOUR_MS, until)
  const lastHour = Math.max(spanStart('1h', until), hour)
  const day = longest === '1h' ? lastHour : Math.min(Math.ceil(hour / DAY_MS) * DAY_MS, lastHour)
  const lastDay = Math.max(spanStart('1d', until), day)
  const ranges: SpanRange[] = [
    { span: '5m', from, until: hour },
    { span: '1h', from: hour, until: day },
    { span: '1d', from: day, until: lastDay },
    { span: '1h', from: lastDay, until: lastHour },
    { span: '5m', from: lastHour, until },
  ]
  return ranges.filter(({ from, until }) => from < until)
}
