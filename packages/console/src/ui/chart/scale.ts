// Scales of charts: round numbers at the top of an axis, and places on it. Pure.

/** Returns the smallest of 1, 2 or 5 times a power of ten that is not less than the value; 1 for zero. */
export function niceMax(value: number): number {
  if (value <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find(factor => factor * power >= value) as number) * power
}

/** Returns the distance of a value from the top of a chart, in pixels. */
export function placeOf(value: number, max: number, heightPx: number): number {
  return heightPx - (Math.min(value, max) / max) * heightPx
}

/** Returns the position of a moment in a chart of spans, from 0 to 1; undefined outside the chart. */
export function markPlace(
  atMs: number,
  { points, spanMs }: { points: readonly { at: string }[]; spanMs: number },
): number | undefined {
  const startMs = Date.parse(points[0]?.at ?? '')
  const x = (atMs - startMs) / (spanMs * points.length)
  return x >= 0 && x <= 1 ? x : undefined
}

/** Returns the path of durations: a dash for each span that has one, joined with its neighbours; a gap otherwise. */
export function lineOf(values: readonly (number | undefined)[], max: number, heightPx: number): string {
  return values
    .map((value, i) => {
      if (value === undefined) return ''
      const y = placeOf(value, max, heightPx).toFixed(1)
      const start = values[i - 1] === undefined ? `M${i} ${y}` : `L${i} ${y}`
      return `${start}L${i + 1} ${y}`
    })
    .join('')
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Distances of labels on an axis of time. */
const TICKS_MS = [
  ...[5, 15, 30].map(minutes => minutes * MINUTE_MS),
  ...[1, 3, 6, 12].map(hours => hours * HOUR_MS),
  ...[1, 2, 7, 14, 28, 91, 182, 364].map(days => days * DAY_MS),
]
const TICKS_MAX = 6
const MONTH_AND_DAY = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** A label of the axis of time, and the number of the span that begins there. */
export interface Tick {
  span: number
  text: string
}

/**
 * Returns the labels of an axis of time, at most six: times of the day, and the date at midnight. `zonedMs` are the beginnings of
 * the spans, as if the display zone were UTC.
 */
export function timeTicks(zonedMs: readonly number[]): Tick[] {
  const lengthMs = (zonedMs.at(-1) ?? 0) - (zonedMs[0] ?? 0)
  const unit = TICKS_MS.find(each => lengthMs / each <= TICKS_MAX - 1) ?? Math.ceil(lengthMs / DAY_MS / 5) * DAY_MS
  return zonedMs.flatMap((at, span) => {
    const before = zonedMs[span - 1]
    const begins = before === undefined ? at % unit === 0 : Math.floor(before / unit) !== Math.floor(at / unit)
    if (!begins) return []
    const isDay = unit >= DAY_MS || before === undefined || Math.floor(before / DAY_MS) !== Math.floor(at / DAY_MS)
    return [{ span, text: isDay ? MONTH_AND_DAY.format(at) : new Date(at).toISOString().slice(11, 16) }]
  })
}

/** Returns a count for an axis: `500`, `20k`, `5M`. */
export function axisCount(count: number): string {
  if (count >= 1_000_000) return `${count / 1_000_000}M`
  return count >= 10_000 ? `${count / 1000}k` : String(count)
}

/** Returns a duration for an axis, with one unit: `500 ms`, `2 s`, `1.7 min`. */
export function axisDuration(ms: number): string {
  const [unit, name] =
    ms < 1000 ? [1, 'ms'] : ms < MINUTE_MS ? [1000, 's'] : ms < HOUR_MS ? [MINUTE_MS, 'min'] : [HOUR_MS, 'h']
  return `${Number((ms / (unit as number)).toFixed(1))} ${name}`
}
