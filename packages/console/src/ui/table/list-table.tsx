// A table of rows with a preview of each (Space, or a resting pointer), and with a menu of the row (the key `.`, or a button):
// its own buttons, and values to copy. Enter follows its first link.

import { type ReactNode, useState } from 'react'
import { useKeys } from '../../keys/keys.ts'
import { copyText } from '../overlay/copy.tsx'
import type { MenuItem } from '../overlay/menu.tsx'
import { PopupMenu } from '../overlay/popup-menu.tsx'
import { DataTable, type DataTableProps } from './data-table.tsx'
import { PeekPanel } from './peek-panel.tsx'
import { usePeek } from './use-peek.ts'

/** A preview of a row: its head, and its parts. */
export interface Look {
  head: ReactNode
  body: ReactNode
}

export interface ListTableProps<Row> extends Omit<DataTableProps<Row>, 'onPeek' | 'onActive' | 'onMenu'> {
  look?(row: Row): Look
  /** Other actions on the row. */
  menuOf?(row: Row): readonly MenuItem[]
}

export function ListTable<Row>({ look, menuOf, ...table }: ListTableProps<Row>) {
  const { rows, keyOf, label } = table
  const [menu, setMenu] = useState<{ row: Row; anchor: HTMLElement }>()
  const clear = () => table.selection?.onChange(new Set())
  const isSelecting = (table.selection?.keys.size ?? 0) > 0
  // Registered before the keys of the preview, so that Escape first closes the preview.
  useKeys(`${label}, selected`, isSelecting ? [{ keys: 'Escape', label: 'Clear the selection', run: clear }] : [])
  const peek = usePeek(rows, keyOf)
  const shown = look && peek.row && look(peek.row)
  const openMenu = (row: Row, anchor: HTMLElement) => {
    const own = anchor.querySelector<HTMLElement>('[aria-haspopup=menu]:not([data-menu])')
    if (own) own.click()
    else setMenu({ row, anchor })
  }
  return (
    <>
      <DataTable<Row> {...table} {...(look && { onPeek: peek.show, onActive: peek.follow })} onMenu={openMenu} />
      {shown && (
        <PeekPanel name={`Preview of a row in ${label}`} head={shown.head} isPinned={peek.isPinned}>
          {shown.body}
        </PeekPanel>
      )}
      {menu && (
        <PopupMenu
          anchor={menu.anchor}
          name="Actions on the row"
          items={[...itemsOf(menu.anchor.closest('tr') ?? menu.anchor, keyOf(menu.row)), ...(menuOf?.(menu.row) ?? [])]}
          onClose={() => setMenu(undefined)}
        />
      )}
    </>
  )
}

const ID = /^[a-z]{3}_\w+$/

function itemsOf(row: HTMLElement, key: string): MenuItem[] {
  const link = row.querySelector('a')
  const buttons = [...row.querySelectorAll<HTMLButtonElement>('button:not([data-menu])')]
  return [
    ...(link ? [{ label: 'Open', keys: 'Enter', onSelect: () => link.click() }] : []),
    ...buttons.map(button => ({
      label: button.textContent ?? '',
      disabledBecause: button.ariaDisabled === 'true' ? button.title : undefined,
      onSelect: () => button.click(),
    })),
    ...(link ? [{ label: 'Copy link', onSelect: () => void copyText(link.href, 'Link copied') }] : []),
    ...(ID.test(key) ? [{ label: 'Copy ID', keys: 'c', onSelect: () => void copyText(key, 'ID copied') }] : []),
  ]
}
