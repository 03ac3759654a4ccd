// Follows the scroll of the page, and says which rows of a list to render.

import { useLayoutEffect, useState } from 'react'
import { windowOf } from './window.ts'

/** Before the first measurement, rows for a usual screen. */
const FIRST_VIEW_PX = 900

/** The rows of the list to render, renewed as the nearest `data-scroller` scrolls. */
export function useWindow(
  list: { current: HTMLElement | null },
  { count, rowPx }: { count: number; rowPx: number },
): ReturnType<typeof windowOf> {
  const [range, setRange] = useState(() => windowOf({ count, rowPx, scrolledPx: 0, viewPx: FIRST_VIEW_PX }))
  useLayoutEffect(() => {
    const scroller = list.current?.closest<HTMLElement>('[data-scroller]')
    if (!scroller) return
    let frame = 0
    const measure = () => {
      frame = 0
      if (!list.current) return
      const scrolledPx = scroller.getBoundingClientRect().top - list.current.getBoundingClientRect().top
      const next = windowOf({ count, rowPx, scrolledPx, viewPx: scroller.clientHeight })
      setRange(last =>
        last.first === next.first && last.last === next.last && last.afterPx === next.afterPx ? last : next,
      )
    }
    const onScroll = () => {
      frame ||= requestAnimationFrame(measure)
    }
    measure()
    const resized = new ResizeObserver(onScroll)
    resized.observe(scroller)
    scroller.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      cancelAnimationFrame(frame)
      resized.disconnect()
      scroller.removeEventListener('scroll', onScroll)
    }
  }, [list, count, rowPx])
  return range
}
