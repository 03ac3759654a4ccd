// A menu that opens from a button: a native popover, placed below the button through the CSSOM.

import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { NEEDS_KEY } from '../../session/session.ts'
import { Button, type ButtonProps, refuse } from '../button.tsx'
import styles from './overlay.module.css'

export interface MenuItem {
  label: string
  onSelect(): void
  isDanger?: boolean
  /** Why it cannot be used now. */
  disabledBecause?: string | undefined
  /** The shortcut for the same action. */
  keys?: string
  /** The choice itself replaces a popup menu; otherwise the menu closes. */
  keepsOpen?: boolean
}

const EDGE_PX = 8

export interface MenuProps {
  /** The button's content. */
  label: ReactNode
  /** The button's name if its content is a symbol. */
  name?: string
  items: readonly MenuItem[]
  kind?: ButtonProps['kind']
  /** The shortcut that opens it, for its tooltip. */
  keys?: string
}

export function Menu({ label, name, items, kind = 'plain', keys }: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!isOpen || !list.current || !button.current) return
    place(list.current, button.current)
    list.current.querySelector<HTMLElement>('[role=menuitem]')?.focus()
  }, [isOpen])
  return (
    <>
      <Button
        ref={button}
        kind={kind}
        aria-label={name}
        title={keys === undefined ? name : `${name} (${keys})`}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => list.current?.togglePopover()}
      >
        {label}
      </Button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        aria-label={name ?? (typeof label === 'string' ? label : undefined)}
        className={styles.menu}
        onToggle={event => setOpen(event.newState === 'open')}
        onKeyDown={moveFocus}
      >
        {isOpen &&
          items.map(item => (
            <MenuEntry
              key={item.label}
              item={item}
              onDone={() => {
                list.current?.hidePopover()
                button.current?.focus()
              }}
            />
          ))}
      </div>
    </>
  )
}

export function MenuEntry({ item, onDone }: { item: MenuItem; onDone(): void }) {
  const isLocked = item.disabledBecause === NEEDS_KEY
  const isDisabled = item.disabledBecause !== undefined && !isLocked
  const select = (event: MouseEvent) => {
    if (item.disabledBecause !== undefined) return void (refuse(event, item.disabledBecause) && onDone())
    onDone()
    item.onSelect()
  }
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      className={styles.menuItem}
      data-danger={item.isDanger || undefined}
      aria-disabled={isDisabled || undefined}
      data-locked={isLocked || undefined}
      title={item.disabledBecause}
      onClick={select}
    >
      <span>{item.label}</span>
      {item.disabledBecause !== undefined && <small>{item.disabledBecause}</small>}
      {item.keys !== undefined && <kbd>{item.keys}</kbd>}
    </button>
  )
}

/** Places the list below the button, inside the window. */
export function place(list: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect()
  const { width, height } = list.getBoundingClientRect()
  const left = Math.max(EDGE_PX, Math.min(at.left, innerWidth - width - EDGE_PX))
  const isBelow = at.bottom + 4 + height <= innerHeight
  list.style.setProperty('left', `${left}px`)
  list.style.setProperty('top', `${isBelow ? at.bottom + 4 : Math.max(EDGE_PX, at.top - 4 - height)}px`)
}

/** Handles the keys of an open menu. */
export function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role=menuitem]')]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key]
  event.stopPropagation()
  if (next === undefined) return
  event.preventDefault()
  items[(next + items.length) % items.length]?.focus()
}
