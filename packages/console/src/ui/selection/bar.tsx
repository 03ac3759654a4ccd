// The bar for selected rows: how many there are, the actions on them, and a button to clear them. It stays at the bottom of the
// window.

import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react'
import { Button } from '../button.tsx'
import { Polite } from '../overlay/polite.tsx'
import css from './bar.module.css'

export interface SelectionToolbarProps {
  /** The number and kind of the selected rows. */
  text: string
  /** The buttons. */
  children: ReactNode
  onClear(): void
}

export function SelectionToolbar({ text, children, onClear }: SelectionToolbarProps) {
  const bar = useRef<HTMLDivElement>(null)
  useHeight(bar)
  return (
    <div ref={bar} data-at-end="" className={css.selected}>
      <Polite text={text} />
      {children}
      <Button kind="bare" title="Clear (Esc)" onClick={onClear}>
        Clear
      </Button>
    </div>
  )
}

/** Sets the height of the bar as a variable, for elements that float above the page. */
function useHeight(bar: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const { style } = document.documentElement
    const observer = new ResizeObserver(() => style.setProperty('--selection-height', `${bar.current?.offsetHeight}px`))
    if (bar.current) observer.observe(bar.current)
    return () => {
      observer.disconnect()
      style.removeProperty('--selection-height')
    }
  }, [bar])
}
