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
