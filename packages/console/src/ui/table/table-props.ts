// The columns and the properties of a table of many rows.

import type { ReactNode } from 'react'
import type { Selection } from './selection.ts'

export interface Column<Row> {
  id: string
  header: string
  /** CSS width; columns without one share the remaining width. */
  width?: string
  align?: 'end'
  render(row: Row): ReactNode
  /** Sorts by this column: the current direction, and a function that changes it. */
  sort?: { dir: 'asc' | 'desc' | undefined; onSort(): void } | undefined
  /** Left out of cards. */
  isSecondary?: boolean
}

export interface DataTableProps<Row> {
  /** The name of the table for screen readers. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row): string
  onOpen?(row: Row): void
  /** Shows a preview of the row without leaving the list: pinned by a key, or while the pointer rests on it. */
  onPeek?(row: Row | undefined, how: 'pin' | 'hover'): void
  /** Opens the menu of the row next to the element: the row, or its button. */
  onMenu?(row: Row, element: HTMLElement): void
  /** Each row has a button for its menu. Default: with `onMenu`. */
  hasMenuButton?: boolean
  selection?: Selection | undefined
  /** There are more rows than these: `onMore` reads them when the end is near. */
  hasMore?: boolean
  isLoadingMore?: boolean
  onMore?(): void
  isDense?: boolean
  /** The active row, which the keys act on, has changed. */
  onActive?(row: Row | undefined): void
}
