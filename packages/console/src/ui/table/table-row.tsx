// A row of a table: its cells, its box, and the pointer actions on it. It is rendered again only when its own data changes, not
// when the keys move to another row.

import { memo, type PointerEvent, useEffect, useRef } from 'react'
import { useUtc } from '../../data/time/zone.ts'
import styles from './data-table.module.css'
import type { Column } from './table-props.ts'

/** How long the pointer must rest on a row to show its preview. */
const HOVER_MS = 400

/** The actions of a row. One object serves all rows and renderings of a table. */
export interface RowActions<Row> {
  activate(key: string): void
  /** Selects the row or clears it; with `isRange`, selects all from the last selected row to it. */
  select(index: number, isRange: boolean): void
  open(row: Row): void
  peek(row: Row | undefined): void
  /** Opens the menu of the row at its button. */
  menu(row: Row, button: HTMLElement): void
}

export interface RowProps<Row> {
  row: Row
  /** The key of the row. */
  name: string
  index: number
  columns: readonly Column<Row>[]
  isActive: boolean
  /** Undefined in a table without selection. */
  isSelected: boolean | undefined
  canOpen: boolean
  canPeek: boolean
  hasMenuButton: boolean
  on: RowActions<Row>
}

function Row<Row>(props: RowProps<Row>) {
  // Cells show times, so a change of the zone renders them again.
  useUtc()
  const { row, name, index, columns, isActive, isSelected, canOpen, canPeek, hasMenuButton, on } = props
  const open = (target: EventTarget) => {
    // Links, buttons and boxes inside the row handle their own clicks. The end of a text selection opens nothing.
    if ((target as HTMLElement).closest('a,button,input,label') || getSelection()?.isCollapsed === false) return
    on.open(row)
  }
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-active={isActive || undefined}
      data-selected={isSelected || undefined}
      data-key={name}
      data-open={canOpen ? '' : undefined}
      tabIndex={isActive ? 0 : -1}
      onFocus={() => on.activate(name)}
      onClick={event => open(event.target)}
      {...useHover(row, canPeek ? on : undefined)}
    >
      {isSelected !== undefined && (
        <td data-box="">
          {/* Pressing next to the box counts as pressing it. */}
          <label>
            <input
              type="checkbox"
              aria-label={`Select row ${index + 1}`}
              title="Select (x), up to here (X)"
              checked={isSelected}
              onChange={({ nativeEvent }) => on.select(index, (nativeEvent as MouseEvent).shiftKey)}
            />
          </label>
        </td>
      )}
      {columns.map(({ id, header, align, render, isSecondary }) => (
        <td key={id} data-align={align} data-head={align && header} data-secondary={isSecondary || undefined}>
          {render(row)}
        </td>
      ))}
      {hasMenuButton && (
        <td data-menu="">
          <button
            type="button"
            data-menu=""
            className={styles.menu}
            // Only the active row is a tab stop: a stop for each row would make hundreds.
            tabIndex={isActive ? 0 : -1}
            aria-haspopup="menu"
            aria-label={`Actions on row ${index + 1}`}
            title="Actions on the row (.)"
            onClick={({ currentTarget }) => on.menu(row, currentTarget)}
          >
            ⋯
          </button>
        </td>
      )}
    </tr>
  )
}

export const TableRow = memo(Row) as typeof Row

/** Shows the preview of a row on which the pointer rests. */
function useHover<Row>(row: Row, on: RowActions<Row> | undefined) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  if (!on) return {}
  return {
    onPointerEnter: ({ pointerType }: PointerEvent) => {
      if (pointerType === 'mouse') timer.current = setTimeout(() => on.peek(row), HOVER_MS)
    },
    onPointerLeave: () => {
      clearTimeout(timer.current)
      on.peek(undefined)
    },
  }
}
