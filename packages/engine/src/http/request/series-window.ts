// The window of a series: the spans of time that a request gets, within the bounds of a series. Called by the routes of series.

import { invalid } from '../../domain/model/errors.ts'
import { type SeriesStep, SPAN_KEPT_MS, SPAN_MS, spanStart } from '../../domain/view/rollup-span.ts'

export const SINCE_DEFAULT_MS = 86_400_000
const POINTS_MAX = 750

/** The window that a request gets: `since` is the beginning of its first span, `until` the end of its last one. */
export function seriesWindow(
  step: SeriesStep,
  asked: { since: number | undefined; until: number | undefined },
  now: number,
) {
  const length = SPAN_MS[step]
  const until = Math.ceil((asked.until ?? now + 1) / length) * length
  const since = spanStart(step, asked.since ?? until - SINCE_DEFAULT_MS)
  const points = (until - since) / length
  if (points > POINTS_MAX) {
    throw invalid('step', `gives ${points} points between since and until: at most ${POINTS_MAX} are allowed`)
  }
  const keptMs = step === '1d' ? undefined : SPAN_KEPT_MS[step]
  if (keptMs !== undefined && since < spanStart(step, now) - keptMs) {
    throw invalid('step', `is kept for ${keptMs / SPAN_MS['1d']} days: use a longer step, or a later since`)
  }
  return { since, until }
}
