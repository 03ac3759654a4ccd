// A menu that opens next to an element, without its own button.

import { useEffect, useRef } from 'react'
import { MenuEntry, type MenuItem, moveFocus, place } from './menu.tsx'
import styles from './overlay.module.css'

export interface PopupMenuProps {
  /** The element that the menu belongs to. It gets the focus afterwards. */
  anchor: HTMLElement
  name: string
  items: readonly MenuItem[]
  onClose(): void
}

/** A menu without a button: open while it is rendered. */
export function PopupMenu({ anchor, name, items, onClose }: PopupMenuProps) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!list.current) return
    list.current.showPopover()
    place(list.current, anchor)
    list.current.querySelector<HTMLElement>('[role=menuitem]')?.focus()
  }, [anchor])
  const choose = (item: MenuItem) => {
    item.onSelect()
    if (!item.keepsOpen) onClose()
  }
  return (
    <div
      ref={list}
      popover="auto"
      role="menu"
      aria-label={name}
      className={styles.menu}
      onToggle={event => {
        if (event.newState === 'closed') onClose()
      }}
      onKeyDown={moveFocus}
    >
      {items.map(item => (
        <MenuEntry key={item.label} item={{ ...item, onSelect: () => choose(item) }} onDone={() => anchor.focus()} />
      ))}
    </div>
  )
}
