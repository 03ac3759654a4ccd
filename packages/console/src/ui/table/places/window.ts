// The arithmetic of a windowed list: only the rows near the visible part are in the document.

import type { Places } from './places.ts'

/** Rows beside the visible part that are kept, so that a scroll shows no gap. */
const OVERSCAN = 8
const STEP = 8
/** A list of so many rows is whole, also below the visible part: a search of the browser and a screen reader find its rows. */
const WHOLE_MAX = 16

export interface WindowInput {
  count: number
  places: Places
  /** Scrolled past the first row; negative while the list begins below the top. */
  scrolledPx: number
  viewPx: number
  /** Rows beside the visible part. Default: enough for a scroll. */
  overscan?: number
}

/** The rows to render, and the heights of what is left out before and after them. */
export function windowOf({ count, places, scrolledPx, viewPx, overscan = OVERSCAN }: WindowInput) {
  if (count <= WHOLE_MAX) return { first: 0, last: count, beforePx: 0, afterPx: 0 }
  const first = Math.max(0, Math.min(count, places.indexAt(scrolledPx) - overscan))
  const last = Math.max(first, Math.min(count, places.indexAt(scrolledPx + viewPx - 1) + 1 + overscan))
  return { first, last, beforePx: places.topOf(first), afterPx: places.topOf(count) - places.topOf(last) }
}

/** The window of a scroll in steps of some rows: most scrolls by one row, as a key makes them, render nothing. */
export function windowInSteps({ scrolledPx, viewPx, rowPx, ...input }: WindowInput & { rowPx: number }) {
  const stepPx = STEP * rowPx
  return windowOf({ ...input, scrolledPx: Math.floor(scrolledPx / stepPx) * stepPx, viewPx: viewPx + stepPx })
}
