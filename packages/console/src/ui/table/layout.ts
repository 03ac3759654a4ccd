// How a table is laid out in the available space: with all its columns, with only the columns that cards have, or as cards. Each
// visible column is wide enough to be read.

import { type RefObject, useLayoutEffect, useMemo, useState } from 'react'
import type { Column } from './table-props.ts'

/** The minimum width of a column that shares the remaining width, and of one that has a part of the width. */
const REST_PX_MIN = 120
const PART_PX_MIN = 80

type Sized = Pick<Column<never>, 'width' | 'isSecondary'>

/** Whether the columns fit into this many pixels. */
export function fits(columns: readonly Sized[], roomPx: number): boolean {
  let restPx = roomPx
  for (const { width } of columns) {
    const isPart = width?.endsWith('%')
    const px = width === undefined ? REST_PX_MIN : (Number.parseFloat(width) * (isPart ? roomPx : 100)) / 100
    if (isPart && px < PART_PX_MIN) return false
    restPx -= px
  }
  return restPx >= 0
}

/**
 * Returns the layout of the table, updated when its space changes, and the columns to show. `besidePx` is taken by boxes and
 * buttons of rows.
 */
export function useLayout<Row>(
  table: RefObject<HTMLElement | null>,
  columns: readonly Column<Row>[],
  besidePx: number,
): { isCards: boolean; shown: readonly Column<Row>[] } {
  const main = useMemo(() => columns.filter(({ isSecondary }) => !isSecondary), [columns])
  const [layout, setLayout] = useState<'all' | 'main' | 'cards'>('all')
  // Measured before the first paint.
  useLayoutEffect(() => {
    const box = table.current?.parentElement
    if (!box) return
    const measure = () => {
      const roomPx = box.clientWidth - besidePx
      setLayout(fits(columns, roomPx) ? 'all' : fits(main, roomPx) ? 'main' : 'cards')
    }
    const observer = new ResizeObserver(measure)
    observer.observe(box)
    measure()
    return () => observer.disconnect()
  }, [table, columns, main, besidePx])
  return { isCards: layout === 'cards', shown: layout === 'main' ? main : columns }
}
