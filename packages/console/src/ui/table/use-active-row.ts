// The active row of a table, which the keys move, open, select and preview. It is kept in the history, and gets the focus on the
// way back.

import { useCallback, useEffect, useMemo, useRef } from 'react'
import { useKeys } from '../../keys/keys.ts'
import { currentLocation } from '../../router/history.ts'
import { useKept } from '../kept.ts'
import { copyText } from '../overlay/copy.tsx'
import type { Places } from './places/places.ts'
import { rangeOf, toggled } from './selection.ts'
import type { DataTableProps } from './table-props.ts'

type Table = { current: HTMLTableElement | null }

export function useActiveRow<Row>(props: DataTableProps<Row>, table: Table, places: Places) {
  const { label, rows, keyOf, onActive, selection } = props
  const [key, setKey] = useKept<string | undefined>(`active:${label}`, undefined)
  const anchor = useRef<string>(undefined)
  const active = useRef(key)
  const index = useMemo(() => rows.findIndex(row => keyOf(row) === key), [rows, key, keyOf])
  const activate = useCallback(
    (next: string) => {
      // Moving the focus by a key also reports the new row, before it is rendered.
      if (next === active.current) return
      active.current = next
      setKey(next)
      onActive?.(rows.find(row => keyOf(row) === next))
    },
    [rows, keyOf, onActive, setKey],
  )
  const move = (by: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index + by))
    const row = rows[next]
    if (row === undefined) return
    if (next === index && focusNeighbour(table.current, keyOf(row), by)) return
    activate(keyOf(row))
    focusRow(table.current, { index: next, key: keyOf(row), places })
  }
  const select = (at: number, isRange: boolean) => {
    const row = rows[at]
    if (!selection || row === undefined) return
    // A range begins at a selected row of this list.
    const begin = isRange && rows.find(each => keyOf(each) === anchor.current && selection.keys.has(keyOf(each)))
    anchor.current = keyOf(row)
    if (!begin) selection.onChange(toggled(selection.keys, keyOf(row)))
    else selection.onChange(new Set([...selection.keys, ...rangeOf(rows, rows.indexOf(begin), at).map(keyOf)]))
  }
  useFocusOnReturn({ table, index, key, places })
  useRowKeys(props, { table, index, move, select })
  return { key, set: activate, select }
}

/** Focuses the row of another table that comes before or after this row. Returns undefined if there is none. */
function focusNeighbour(table: HTMLTableElement | null, key: string, by: number): HTMLElement | undefined {
  const all = [...document.querySelectorAll<HTMLElement>('tr[data-key]')]
  const neighbour = all[all.indexOf(rowElement(table, key) as HTMLElement) + by]
  neighbour?.focus()
  return neighbour
}

interface Moves {
  table: Table
  index: number
  move(by: number): void
  select(at: number, isRange: boolean): void
}

const ID = /^[a-z]{3}_\w+$/

function useRowKeys<Row>(props: DataTableProps<Row>, { table, index, move, select }: Moves): void {
  const { label, rows, keyOf, onOpen, onPeek, onMenu, selection } = props
  const current = rows[index]
  const key = current === undefined ? undefined : keyOf(current)
  const open = (row: Row) => {
    if (onOpen) onOpen(row)
    else rowElement(table.current, keyOf(row))?.querySelector('a')?.click()
  }
  const menu = (row: Row) => {
    const element = rowElement(table.current, keyOf(row))
    if (element) onMenu?.(row, element)
  }
  useKeys(
    label,
    [
      { keys: 'j', label: 'Next row', run: () => move(1) },
      { keys: 'k', label: 'Previous row', run: () => move(-1) },
      { keys: 'Enter', label: 'Open the row', run: () => current !== undefined && open(current) },
      ...(onPeek
        ? [{ keys: 'Space', label: 'Preview the row', run: () => current !== undefined && onPeek(current, 'pin') }]
        : []),
      ...(onMenu
        ? [{ keys: '.', label: 'Actions on the row', run: () => current !== undefined && menu(current) }]
        : []),
      ...(key !== undefined && ID.test(key)
        ? [{ keys: 'c', label: 'Copy row ID', run: () => void copyText(key, 'ID copied') }]
        : []),
      ...(selection
        ? [
            { keys: 'x', label: 'Select the row', run: () => select(index, false) },
            { keys: 'X', label: 'Select up to the row', run: () => select(index, true) },
          ]
        : []),
    ],
    { table },
  )
}

interface Place {
  index: number
  key: string
  places: Places
}

/** On the way back to the list, the row that was opened gets the focus again. */
function useFocusOnReturn({
  table,
  index,
  key,
  places,
}: { table: Table; key: string | undefined } & Omit<Place, 'key'>) {
  const isDone = useRef(currentLocation().cause !== 'back')
  useEffect(() => {
    if (isDone.current || index < 0 || key === undefined) return
    isDone.current = true
    focusRow(table.current, { index, key, places })
  }, [table, index, key, places])
}

function rowElement(table: HTMLTableElement | null, key: string): HTMLElement | undefined {
  return table?.querySelector<HTMLElement>(`tr[data-key="${CSS.escape(key)}"]`) ?? undefined
}

/** Focuses a row, and scrolls to it. It may not be in the document yet: then this first scrolls to its place. */
function focusRow(table: HTMLTableElement | null, { index, key, places }: Place): void {
  const scroller = table?.closest('[data-scroller]')
  if (!table || !scroller) return
  if (!rowElement(table, key)) {
    const headPx = table.tHead?.offsetHeight ?? 0
    const top = table.getBoundingClientRect().top - scroller.getBoundingClientRect().top + headPx + places.topOf(index)
    scroller.scrollBy({ top: top - (top < 0 ? headPx : scroller.clientHeight / 2) })
  }
  focusWhenThere(table, key, FRAMES_MAX)
}

/** Maximum number of frames until the rows near the new position are in the document after a scroll. */
const FRAMES_MAX = 20

function focusWhenThere(table: HTMLTableElement, key: string, framesLeft: number): void {
  const row = rowElement(table, key)
  if (row) {
    row.focus({ preventScroll: true })
    row.scrollIntoView({ block: 'nearest' })
  } else if (framesLeft > 0) requestAnimationFrame(() => focusWhenThere(table, key, framesLeft - 1))
}
