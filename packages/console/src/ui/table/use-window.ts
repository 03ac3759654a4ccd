// Follows the scroll of the page, and says which rows of a list to render: at first those that the window has room for, so that they
// are painted soon, and then some beside them.

import { useLayoutEffect, useRef, useState } from 'react'
import { windowInSteps, windowOf } from './window.ts'

/** Above the first row of every list there is at least the top bar, the title and the head of the table. */
const ABOVE_PX = 120

/** The rows of the list to render, renewed as the nearest `data-scroller` scrolls. */
export function useWindow(
  list: { current: HTMLElement | null },
  { count, rowPx }: { count: number; rowPx: number },
): ReturnType<typeof windowOf> {
  const [range, setRange] = useState(() =>
    windowOf({ count, rowPx, scrolledPx: 0, viewPx: innerHeight - ABOVE_PX, overscan: 0 }),
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
      const next = windowInSteps({ count, rowPx, scrolledPx, viewPx: scroller.clientHeight })
      setRange(last =>
        last.first === next.first && last.last === next.last && last.afterPx === next.afterPx ? last : next,
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
  }, [list, count, rowPx])
  return range
}
