// Shows the texts of a table completely: its rows are as high as they need. For tables of few rows: the rows of a large table
// have the same height, which its windowing requires.

import type { ReactNode } from 'react'
import css from './whole-rows.module.css'

/** A table with more rows cuts its texts. */
const ROWS_MAX = 200

/** The element is the scroller of the table, as high as all rows, so the table renders every row. */
export function WholeRows({ count, children }: { count: number; children: ReactNode }) {
  const isWhole = count <= ROWS_MAX
  return (
    <div className={isWhole ? css.whole : undefined} data-scroller={isWhole ? '' : undefined}>
      {children}
    </div>
  )
}
