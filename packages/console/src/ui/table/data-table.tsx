// A table of many rows: windowed, with a row that the keys j and k move, Enter opens and x selects. On a phone its rows are
// cards.

import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useKeys } from '../../keys/keys.ts'
import { useNarrow } from '../media.ts'
import styles from './data-table.module.css'
import { type Selection, toggled } from './selection.ts'
import { useWindow } from './use-window.ts'

export interface Column<Row> {
  id: string
  header: string
  /** CSS width; the columns without one share the rest. */
  width?: string
  align?: 'end'
  render(row: Row): ReactNode
  /** Sorts by this column: the direction now, and the way to change it. */
  sort?: { dir: 'asc' | 'desc' | undefined; onSort(): void } | undefined
  /** Left out of cards. */
  isSecondary?: boolean
}

export interface DataTableProps<Row> {
  /** Names the rows for screen readers. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf(row: Row): string
  onOpen?(row: Row): void
  /** Shows a look at the row without leaving the list. */
  onPeek?(row: Row): void
  selection?: Selection | undefined
  /** There are more rows than these: `onMore` reads them when the end comes near. */
  hasMore?: boolean
  isLoadingMore?: boolean
  onMore?(): void
  isDense?: boolean
  /** The row that has the keys changed. */
  onActive?(row: Row | undefined): void
}

const ROW_PX = { comfortable: 32, dense: 26, card: 84 }

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, keyOf, selection, hasMore = false, isDense = false, isLoadingMore, onMore } = props
  const isNarrow = useNarrow()
  const rowPx = isNarrow ? ROW_PX.card : isDense ? ROW_PX.dense : ROW_PX.comfortable
  const table = useRef<HTMLTableElement>(null)
  const { first, last, beforePx, afterPx } = useWindow(table, { count: rows.length, rowPx })
  const active = useActiveRow(props, table, rowPx)
  const isNearEnd = last >= rows.length
  useEffect(() => {
    if (isNearEnd && hasMore && !isLoadingMore) onMore?.()
  }, [isNearEnd, hasMore, isLoadingMore, onMore])
  const spacer = (px: number) =>
    px > 0 && (
      <tr>
        <td colSpan={columns.length + (selection ? 1 : 0)} style={{ height: px, padding: 0 }} />
      </tr>
    )
  return (
    <table
      ref={table}
      className={styles.table}
      aria-label={label}
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      data-dense={isDense || undefined}
    >
      <Head columns={columns} rows={rows} keyOf={keyOf} selection={selection} />
      <tbody>
        {spacer(beforePx)}
        {rows.slice(first, last).map((row, i) => (
          <TableRow
            key={keyOf(row)}
            row={row}
            index={first + i}
            table={props}
            isActive={active.key === keyOf(row)}
            onActivate={active.set}
          />
        ))}
        {spacer(afterPx)}
      </tbody>
    </table>
  )
}

interface HeadProps<Row> extends Pick<DataTableProps<Row>, 'columns' | 'rows' | 'keyOf' | 'selection'> {}

function Head<Row>({ columns, rows, keyOf, selection }: HeadProps<Row>) {
  const isAll = selection !== undefined && rows.length > 0 && rows.every(row => selection.keys.has(keyOf(row)))
  return (
    <>
      <colgroup>
        {selection && <col style={{ width: 36 }} />}
        {columns.map(({ id, width }) => (
          <col key={id} style={width === undefined ? {} : { width }} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {selection && (
            <th scope="col">
              <input
                type="checkbox"
                aria-label="Select all rows that are loaded"
                checked={isAll}
                onChange={() => selection.onChange(new Set(isAll ? [] : rows.map(keyOf)))}
              />
            </th>
          )}
          {columns.map(({ id, header, align, sort }) => (
            <th key={id} scope="col" data-align={align} aria-sort={ariaSort(sort?.dir)}>
              {sort ? (
                <button type="button" className={styles.sort} onClick={sort.onSort}>
                  {header} <span aria-hidden="true">{{ asc: '▲', desc: '▼', none: '' }[sort.dir ?? 'none']}</span>
                </button>
              ) : (
                header
              )}
            </th>
          ))}
        </tr>
      </thead>
    </>
  )
}

const ariaSort = (dir: 'asc' | 'desc' | undefined) =>
  dir === undefined ? undefined : dir === 'asc' ? 'ascending' : 'descending'

interface RowProps<Row> {
  row: Row
  index: number
  table: DataTableProps<Row>
  isActive: boolean
  onActivate(key: string): void
}

function TableRow<Row>({ row, index, table, isActive, onActivate }: RowProps<Row>) {
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
    >
      {selection && (
        <td data-box="">
          <input
            type="checkbox"
            aria-label={`Select row ${index + 1}`}
            checked={isSelected}
            onChange={() => selection.onChange(toggled(selection.keys, key))}
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

/** The row that the keys move, open and select. */
function useActiveRow<Row>(props: DataTableProps<Row>, table: { current: HTMLTableElement | null }, rowPx: number) {
  const { rows, keyOf, onOpen, onPeek, selection, onActive } = props
  const [key, setKey] = useState<string>()
  const anchor = useRef<number>(undefined)
  const index = useMemo(() => rows.findIndex(row => keyOf(row) === key), [rows, key, keyOf])
  const activate = useCallback(
    (next: string) => {
      setKey(next)
      onActive?.(rows.find(row => keyOf(row) === next))
    },
    [rows, keyOf, onActive],
  )
  const move = (by: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index + by))
    const row = rows[next]
    if (row === undefined) return
    activate(keyOf(row))
    focusRow(table.current, { index: next, key: keyOf(row), rowPx })
  }
  const current = rows[index]
  const select = (isRange: boolean) => {
    if (!selection || current === undefined) return
    const from = isRange ? (anchor.current ?? index) : index
    anchor.current = index
    if (!isRange) return selection.onChange(toggled(selection.keys, keyOf(current)))
    const range = rows.slice(Math.min(from, index), Math.max(from, index) + 1).map(keyOf)
    selection.onChange(new Set([...selection.keys, ...range]))
  }
  useKeys(props.label, [
    { keys: 'j', label: 'Next row', run: () => move(1) },
    { keys: 'k', label: 'Previous row', run: () => move(-1) },
    ...(onOpen ? [{ keys: 'Enter', label: 'Open the row', run: () => current !== undefined && onOpen(current) }] : []),
    ...(onPeek ? [{ keys: 'Space', label: 'Peek', run: () => current !== undefined && onPeek(current) }] : []),
    ...(selection
      ? [
          { keys: 'x', label: 'Select the row', run: () => select(false) },
          { keys: 'X', label: 'Select up to the row', run: () => select(true) },
        ]
      : []),
  ])
  return { key, set: activate }
}

/** Focuses a row, which is scrolled to first: it may not be in the document yet. */
function focusRow(
  table: HTMLTableElement | null,
  { index, key, rowPx }: { index: number; key: string; rowPx: number },
): void {
  const scroller = table?.closest('[data-scroller]')
  if (!table || !scroller) return
  const headPx = table.tHead?.offsetHeight ?? 0
  const top = table.getBoundingClientRect().top - scroller.getBoundingClientRect().top + headPx + index * rowPx
  if (top < headPx) scroller.scrollBy({ top: top - headPx })
  else if (top + rowPx > scroller.clientHeight) scroller.scrollBy({ top: top + rowPx - scroller.clientHeight })
  requestAnimationFrame(() =>
    table.querySelector<HTMLElement>(`tr[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true }),
  )
}
