// The arithmetic of a windowed list: only the rows near the visible part are in the document.

/** Rows beside the visible part that are kept, so that a scroll shows no gap. */
const OVERSCAN = 8
const STEP = 8
/** A list of so many rows is whole, also below the visible part: a search of the browser and a screen reader find its rows. */
const WHOLE_MAX = 16

export interface WindowInput {
  count: number
  rowPx: number
  /** Scrolled past the first row; negative while the list begins below the top. */
  scrolledPx: number
  viewPx: number
  /** Rows beside the visible part. Default: enough for a scroll. */
  overscan?: number
}

/** The rows to render, and the heights of what is left out before and after them. */
export function windowOf({ count, rowPx, scrolledPx, viewPx, overscan = OVERSCAN }: WindowInput) {
  if (count <= WHOLE_MAX) return { first: 0, last: count, beforePx: 0, afterPx: 0 }
  const first = Math.max(0, Math.min(count, Math.floor(scrolledPx / rowPx) - overscan))
  const last = Math.max(first, Math.min(count, Math.ceil((scrolledPx + viewPx) / rowPx) + overscan))
  return { first, last, beforePx: first * rowPx, afterPx: (count - last) * rowPx }
}

/** The window of a scroll in steps of some rows: most scrolls by one row, as a key makes them, render nothing. */
export function windowInSteps({ scrolledPx, viewPx, ...input }: WindowInput) {
  const stepPx = STEP * input.rowPx
  return windowOf({ ...input, scrolledPx: Math.floor(scrolledPx / stepPx) * stepPx, viewPx: viewPx + stepPx })
}
