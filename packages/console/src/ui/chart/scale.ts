// Scales of charts: round numbers at the top of an axis, and places on it. Pure.

/** The smallest of 1, 2 or 5 times a power of ten that is no less than the value; 1 for nothing. */
export function niceMax(value: number): number {
  if (value <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find(factor => factor * power >= value) as number) * power
}

/** The place of a value from the top of a chart, in pixels. */
export function placeOf(value: number, max: number, heightPx: number): number {
  return heightPx - (Math.min(value, max) / max) * heightPx
}

/** The place of a moment in a chart of spans, from 0 to 1; undefined outside the chart. */
export function markPlace(
  atMs: number,
  { points, spanMs }: { points: readonly { at: string }[]; spanMs: number },
): number | undefined {
  const startMs = Date.parse(points[0]?.at ?? '')
  const x = (atMs - startMs) / (spanMs * points.length)
  return x >= 0 && x <= 1 ? x : undefined
}

/** The path of durations: a dash for each span that has one, joined with its neighbours; a gap where there is none. */
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
