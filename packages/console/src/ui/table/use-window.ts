// Follows the scrolling of the page, and decides which rows of a list to render: at first the rows that fit into the window, so
// that they are painted soon, and then some around them.

import { useLayoutEffect, useRef, useState } from 'react'
import type { Places } from './places/places.ts'
import { windowInSteps, windowOf } from './places/window.ts'

/** Height of the top bar, the title and the head of the table, which are at least above the first row of every list. */
const ABOVE_PX = 120
/** The window moves in steps of this many pixels for each row of a step. */
const ROW_PX = 32

/** Returns the rows of the list to render, updated as the nearest `data-scroller` scrolls. */
export function useWindow(
  list: { current: HTMLElement | null },
  { count, places }: { count: number; places: Places },
): ReturnType<typeof windowOf> {
  const [range, setRange] = useState(() =>
    windowOf({ count, places, scrolledPx: 0, viewPx: innerHeight - ABOVE_PX, overscan: 0 }),
  )
  const isPainted = useRef(false)
  useLayoutEffect(() => {
    const scroller = list.current?.closest<HTMLElement>('[data-scroller]')
    if (!scroller) return
    let frame = 0
    const measure = () => {
      frame = 0
      if (!list.current) return
      const scrolledPx = scroller.getBoundingClientRect().top - list.current.getBoundingClientRect().top
      const next = windowInSteps({ count, places, rowPx: ROW_PX, scrolledPx, viewPx: scroller.clientHeight })
      setRange(last =>
        last.first === next.first &&
        last.last === next.last &&
        last.beforePx === next.beforePx &&
        last.afterPx === next.afterPx
          ? last
          : next,
      )
    }
    const onScroll = () => {
      frame ||= requestAnimationFrame(measure)
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const afterPaint = () => {
      frame = 0
      timer = setTimeout(() => {
        isPainted.current = true
        measure()
      })
    }
    if (isPainted.current) measure()
    else frame = requestAnimationFrame(afterPaint)
    const resized = new ResizeObserver(onScroll)
    resized.observe(scroller)
    scroller.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      cancelAnimationFrame(frame)
      clearTimeout(timer)
      resized.disconnect()
      scroller.removeEventListener('scroll', onScroll)
    }
  }, [list, count, places])
  return range
}
