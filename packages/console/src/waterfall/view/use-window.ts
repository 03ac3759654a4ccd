// The rows of a long list that are on the screen. Only these are in the document.

import { type RefObject, useCallback, useLayoutEffect, useState } from 'react'

/** Number of rows drawn above and below the visible ones. */
const OVERSCAN = 6
/**
 * Number of rows that stay visible above and below a revealed one; `scroll-margin-block` of a row keeps them visible on the page.
 */
const MARGIN = 3

export interface RowWindow {
  first: number
  /** Index after the last row. */
  end: number
  /** Scrolls so that a row and its neighbours are visible. */
  reveal(index: number): void
}

/** Returns the visible rows of `scroller`. All rows have the same height. */
export function useWindow(scroller: RefObject<HTMLElement | null>, count: number, rowPx: number): RowWindow {
  const [range, setRange] = useState({ first: 0, end: Math.min(count, 40) })
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element) return
    const read = () => {
      const first = Math.max(0, Math.floor(element.scrollTop / rowPx) - OVERSCAN)
      const end = Math.min(count, Math.ceil((element.scrollTop + element.clientHeight) / rowPx) + OVERSCAN)
      setRange(last => (last.first === first && last.end === end ? last : { first, end }))
    }
    const observer = new ResizeObserver(read)
    observer.observe(element)
    element.addEventListener('scroll', read, { passive: true })
    read()
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', read)
    }
  }, [scroller, count, rowPx])
  const reveal = useCallback(
    (index: number) => {
      const element = scroller.current
      if (!element || index < 0) return
      const margin = Math.max(0, Math.min(MARGIN * rowPx, (element.clientHeight - rowPx) / 2))
      const top = index * rowPx - margin
      const bottom = (index + 1) * rowPx + margin
      if (top < element.scrollTop) element.scrollTop = top
      else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight
    },
    [scroller, rowPx],
  )
  return { ...range, reveal }
}
