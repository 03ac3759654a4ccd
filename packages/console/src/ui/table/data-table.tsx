// A table of many rows: windowed, with an active row that the keys j and k move, Enter opens and x selects. If its columns do not
// fit, its rows become cards.

import { useEffect, useRef, useState } from 'react'
import styles from './data-table.module.css'
import { useLayout } from './layout.ts'
import { BOX_PX, MENU_PX, TableHead } from './table-head.tsx'
import type { DataTableProps } from './table-props.ts'
import { type RowActions, TableRow } from './table-row.tsx'
import { useActiveRow } from './use-active-row.ts'
import { usePlaces } from './use-places.ts'
import { useWindow } from './use-window.ts'

export type { Column, DataTableProps } from './table-props.ts'

const ROW_PX = { comfortable: 32, dense: 26 }

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, rows, keyOf, selection, hasMore = false, isDense = false, isLoadingMore } = props
  const { onMore, onOpen, onPeek, onMenu, hasMenuButton = onMenu !== undefined } = props
  const rowPx = ROW_PX[isDense ? 'dense' : 'comfortable']
  const table = useRef<HTMLTableElement>(null)
  const besidePx = (selection ? BOX_PX : 0) + (hasMenuButton ? MENU_PX : 0)
  const { isCards, shown: columns } = useLayout(table, props.columns, besidePx)
  const places = usePlaces(table, { label, rows, keyOf, rowPx, isCards })
  const { first, last, beforePx, afterPx } = useWindow(table, { count: rows.length, places })
  const active = useActiveRow(props, table, places)
  const on = useRowActions(props, active)
  const isNearEnd = last >= rows.length
  useEffect(() => {
    if (isNearEnd && hasMore && !isLoadingMore) onMore?.()
  }, [isNearEnd, hasMore, isLoadingMore, onMore])
  const spacer = (px: number) =>
    px > 0 && (
      <tr>
        <td
          colSpan={columns.length + (selection ? 1 : 0) + (hasMenuButton ? 1 : 0)}
          style={{ height: px, padding: 0 }}
        />
      </tr>
    )
  return (
    <table
      ref={table}
      className={styles.table}
      aria-label={label}
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      data-dense={isDense || undefined}
      data-cards={isCards || undefined}
    >
      <TableHead columns={columns} rows={rows} keyOf={keyOf} selection={selection} hasMenuButton={hasMenuButton} />
      <tbody>
        {spacer(beforePx)}
        {rows.slice(first, last).map((row, i) => (
          <TableRow
            key={keyOf(row)}
            row={row}
            index={first + i}
            name={keyOf(row)}
            columns={columns}
            isActive={active.key === keyOf(row)}
            isSelected={selection?.keys.has(keyOf(row))}
            canOpen={onOpen !== undefined}
            canPeek={onPeek !== undefined}
            hasMenuButton={hasMenuButton}
            on={on}
          />
        ))}
        {spacer(afterPx)}
      </tbody>
    </table>
  )
}

/**
 * Returns the actions of the rows: one object that calls the functions of the last rendering, so that rows are not rendered
 * again.
 */
function useRowActions<Row>(props: DataTableProps<Row>, active: ReturnType<typeof useActiveRow<Row>>): RowActions<Row> {
  const last = useRef({ props, active })
  last.current = { props, active }
  const [on] = useState<RowActions<Row>>(() => ({
    activate: key => last.current.active.set(key),
    select: (index, isRange) => last.current.active.select(index, isRange),
    open: row => last.current.props.onOpen?.(row),
    peek: row => last.current.props.onPeek?.(row, 'hover'),
    menu: (row, button) => last.current.props.onMenu?.(row, button),
  }))
  return on
}
