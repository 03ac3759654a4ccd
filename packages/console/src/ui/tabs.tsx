// Tabs: a list of them with one open panel. The arrow keys move between them, as in every tab list.

import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import css from './tabs.module.css'

export interface Tab {
  name: string
  label: string
  /** The shortcut that opens it, for its title. */
  keys?: string
}

export interface TabsProps {
  label: string
  tabs: readonly Tab[]
  active: string
  onOpen(name: string): void
  children: ReactNode
}

export function Tabs({ label, tabs, active, onOpen, children }: TabsProps) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const place = tabs.findIndex(({ name }) => name === active)
  // On a phone the list scrolls sideways: keep the open tab in view.
  useLayoutEffect(() => {
    const tab = list.current?.children[place] as HTMLElement | undefined
    if (list.current && tab) list.current.scrollLeft = tab.offsetLeft - (list.current.clientWidth - tab.offsetWidth) / 2
  }, [place])
  const move = (event: KeyboardEvent) => {
    const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1 }[event.key]
    const tab = next === undefined ? undefined : tabs[(next + tabs.length) % tabs.length]
    if (!tab) return
    event.preventDefault()
    event.stopPropagation()
    onOpen(tab.name)
    list.current?.querySelector<HTMLElement>(`[data-tab="${tab.name}"]`)?.focus()
  }
  return (
    <div className={css.tabs}>
      <div ref={list} role="tablist" aria-label={label} className={css.list} onKeyDown={move}>
        {tabs.map(({ name, label, keys }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            data-tab={name}
            aria-selected={name === active}
            aria-controls={`${id}-panel`}
            tabIndex={name === active ? 0 : -1}
            title={keys === undefined ? undefined : `${label} (${keys})`}
            className={css.tab}
            onClick={() => onOpen(name)}
          >
            {label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${active}`} className={css.panel}>
        {children}
      </div>
    </div>
  )
}
