// Spans of a chart that are chosen together: from the start of the choice to its current position. Pure.

export interface Span {
  anchor: number
  head: number
}

/** Returns the first and the last chosen span. */
export const spanBounds = ({ anchor, head }: Span): [first: number, last: number] => [
  Math.min(anchor, head),
  Math.max(anchor, head),
]

/** Returns the number of the span at a share of the width. */
export const spanAt = (share: number, count: number): number =>
  Math.max(0, Math.min(count - 1, Math.floor(share * count)))

/** Returns the choice after a key: the arrows, Home and End move it, and extend it with Shift; undefined for other keys. */
export function movedSpan({ anchor, head }: Span, key: { key: string; shiftKey: boolean }, count: number) {
  const to = { ArrowLeft: head - 1, ArrowRight: head + 1, Home: 0, End: count - 1 }[key.key]
  if (to === undefined) return undefined
  const next = Math.max(0, Math.min(count - 1, to))
  return { anchor: key.shiftKey ? anchor : next, head: next }
}
