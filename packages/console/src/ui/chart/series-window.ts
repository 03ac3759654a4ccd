// The window of a chart for a series of the engine, with the length of its bars.

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** The engine keeps spans of five minutes for 8 days and hours for 400 days. One hour less, because pages stay open. */
const FIVE_MINUTES_KEPT_MS = 8 * DAY_MS - HOUR_MS
const HOURS_KEPT_MS = 400 * DAY_MS - HOUR_MS
/** The engine answers at most 750 spans. */
const DAYS_MAX = 748

interface SeriesWindow {
  since: string | undefined
  until: string | undefined
  step: '5m' | '1h' | '1d'
}

/** Returns `5m` below three hours, `1h` below nine days, `1d` beyond; longer if the engine no longer keeps that. */
export function seriesWindow(since: string | undefined, until: string | undefined, nowMs: number): SeriesWindow {
  // Without a time the engine shows a day.
  if (since === undefined) return { since, until, step: '1h' }
  const fromMs = Date.parse(since)
  const toMs = until === undefined ? nowMs : Date.parse(until)
  const [lengthMs, ageMs] = [toMs - fromMs, nowMs - fromMs]
  if (lengthMs >= 9 * DAY_MS || ageMs > HOURS_KEPT_MS) {
    const firstMs = Math.max(fromMs, toMs - DAYS_MAX * DAY_MS)
    return { since: new Date(firstMs).toISOString(), until, step: '1d' }
  }
  return { since, until, step: lengthMs >= 3 * HOUR_MS || ageMs > FIVE_MINUTES_KEPT_MS ? '1h' : '5m' }
}

/** The window of a page in the form of its URL. */
export interface TimeWindow {
  since: string | undefined
  until: string | undefined
}

/** Returns the window from one time to another. */
export const windowOf = (fromMs: number, toMs: number): TimeWindow => ({
  since: new Date(fromMs).toISOString(),
  until: new Date(toMs).toISOString(),
})

/** Returns three times the window, around its middle. It has no end if it reaches the present. */
export function zoomedOut(shown: { from: string | undefined; until: string | undefined }, nowMs: number): TimeWindow {
  const toMs = shown.until === undefined ? nowMs : Date.parse(shown.until)
  const fromMs = shown.from === undefined ? toMs - DAY_MS : Date.parse(shown.from)
  const lengthMs = toMs - fromMs
  const wide = windowOf(fromMs - lengthMs, toMs + lengthMs)
  return toMs + lengthMs < nowMs ? wide : { ...wide, until: undefined }
}
