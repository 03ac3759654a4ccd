// A row of a table: its cells, its box, and what the pointer does on it.

import { type PointerEvent, useEffect, useRef } from 'react'
import type { DataTableProps } from './table-props.ts'

/** How long the pointer rests on a row before it is looked at. */
const HOVER_MS = 400

export interface RowProps<Row> {
  row: Row
  index: number
  table: DataTableProps<Row>
  isActive: boolean
  onActivate(key: string): void
  /** Selects the row or clears it; with `isRange`, selects all from the last one to it. */
  onSelect(index: number, isRange: boolean): void
}

export function TableRow<Row>({ row, index, table, isActive, onActivate, onSelect }: RowProps<Row>) {
  const { columns, selection, onOpen } = table
  const key = table.keyOf(row)
  const isSelected = selection?.keys.has(key) ?? false
  const open = (target: EventTarget) => {
    // Links, buttons and boxes inside the row have clicks of their own; so has text that is being selected.
    if ((target as HTMLElement).closest('a,button,input,label') || getSelection()?.isCollapsed === false) return
    onOpen?.(row)
  }
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={selection ? isSelected : undefined}
      data-active={isActive || undefined}
      data-selected={isSelected || undefined}
      data-key={key}
      data-open={onOpen ? '' : undefined}
      tabIndex={isActive ? 0 : -1}
      onFocus={() => onActivate(key)}
      onClick={event => open(event.target)}
      {...useHover(row, table)}
    >
      {selection && (
        <td data-box="">
          <input
            type="checkbox"
            aria-label={`Select row ${index + 1}`}
            title="Select (x), up to here (X)"
            checked={isSelected}
            onChange={({ nativeEvent }) => onSelect(index, (nativeEvent as MouseEvent).shiftKey)}
          />
        </td>
      )}
      {columns.map(({ id, align, render, isSecondary }) => (
        <td key={id} data-align={align} data-secondary={isSecondary || undefined}>
          {render(row)}
        </td>
      ))}
    </tr>
  )
}

/** Looks at a row on which the pointer rests. */
function useHover<Row>(row: Row, { onPeek }: DataTableProps<Row>) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  if (!onPeek) return {}
  return {
    onPointerEnter: ({ pointerType }: PointerEvent) => {
      if (pointerType === 'mouse') timer.current = setTimeout(() => onPeek(row, 'hover'), HOVER_MS)
    },
    onPointerLeave: () => {
      clearTimeout(timer.current)
      onPeek(undefined, 'hover')
    },
  }
}
