// The arithmetic of a windowed list: only the rows near the visible part are in the document.

import type { Places } from './places.ts'

/** Number of extra rows around the visible part, so that a scroll shows no gap. */
const OVERSCAN = 8
const STEP = 8
/**
 * A list of up to this many rows is rendered completely, even below the visible part, so that the browser's search and a screen
 * reader find its rows.
 */
const WHOLE_MAX = 16

export interface WindowInput {
  count: number
  places: Places
  /** Pixels scrolled past the first row; negative while the list begins below the top. */
  scrolledPx: number
  viewPx: number
  /** Number of extra rows around the visible part. Default: enough for a scroll. */
  overscan?: number
}

/** Returns the rows to render, and the heights of the rows left out before and after them. */
export function windowOf({ count, places, scrolledPx, viewPx, overscan = OVERSCAN }: WindowInput) {
  if (count <= WHOLE_MAX) return { first: 0, last: count, beforePx: 0, afterPx: 0 }
  const first = Math.max(0, Math.min(count, places.indexAt(scrolledPx) - overscan))
  const last = Math.max(first, Math.min(count, places.indexAt(scrolledPx + viewPx - 1) + 1 + overscan))
  return { first, last, beforePx: places.topOf(first), afterPx: places.topOf(count) - places.topOf(last) }
}

/** Returns the window for scrolling in steps of some rows: most scrolls by one row, such as by a key, render nothing. */
export function windowInSteps({ scrolledPx, viewPx, rowPx, ...input }: WindowInput & { rowPx: number }) {
  const stepPx = STEP * rowPx
  return windowOf({ ...input, scrolledPx: Math.floor(scrolledPx / stepPx) * stepPx, viewPx: viewPx + stepPx })
}
