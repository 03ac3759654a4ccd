// Shows the texts of a table whole: its rows are as high as they need. Around tables of few rows: the rows of a table of many have one
// height, by which they are windowed.

import { type ReactNode, useEffect, useRef } from 'react'
import css from './whole-rows.module.css'

/** A table of more rows cuts its texts. */
const ROWS_MAX = 200

/**
 * The element is the scroller of the table, as high as all rows, so the table renders every row. The rows have other heights than the table
 * computes with, so the browser scrolls to the one that gets the focus.
 */
export function WholeRows({ count, children }: { count: number; children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null)
  const isWhole = count <= ROWS_MAX
  useEffect(() => {
    const rows = ref.current
    if (!isWhole || !rows) return
    const show = ({ target }: FocusEvent) => {
      if (target instanceof HTMLTableRowElement) target.scrollIntoView({ block: 'nearest' })
    }
    rows.addEventListener('focusin', show)
    return () => rows.removeEventListener('focusin', show)
  }, [isWhole])
  return (
    <div ref={ref} className={isWhole ? css.whole : undefined} data-scroller={isWhole ? '' : undefined}>
      {children}
    </div>
  )
}
