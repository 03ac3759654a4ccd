// The spans of time by which ended runs are counted, and how long each is kept. Used by the roll-ups and their routes.

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

/** The beginning of the span that the time is in. */
export function spanStart(step: SeriesStep, at: number): number {
  return Math.floor(at / SPAN_MS[step]) * SPAN_MS[step]
}

/** Spans of one length that begin at `from` or later, and before `until`. */
export interface SpanRange {
  span: RollupSpan
  from: number
  until: number
}

/** The first time that `totalRanges` counts from, for a `since`: the start of the finest span that is still kept. */
export function totalSince(since: number, now: number): number {
  const step = since >= now - SPAN_KEPT_MS['5m'] ? '5m' : since >= now - SPAN_KEPT_MS['1h'] ? '1h' : '1d'
  return spanStart(step, since)
}

/** Ranges that together contain everything from a time of `totalSince` on, with few spans; all time without one. */
export function totalRanges(since: number | undefined): SpanRange[] {
  const end = Number.MAX_SAFE_INTEGER
  if (since === undefined) return [{ span: 'all', from: 0, until: end }]
  const hour = Math.ceil(since / HOUR_MS) * HOUR_MS
  const day = Math.ceil(hour / DAY_MS) * DAY_MS
  const ranges: SpanRange[] = [
    { span: '5m', from: since, until: hour },
    { span: '1h', from: hour, until: day },
    { span: '1d', from: day, until: end },
  ]
  return ranges.filter(({ from, until }) => from < until)
}
