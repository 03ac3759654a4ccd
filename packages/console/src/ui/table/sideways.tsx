// A part of a page that scrolls sideways if its table is wider. It takes the focus, so that the arrows scroll it.

import type { ReactNode } from 'react'

export interface SidewaysProps {
  /** The name of the table. */
  label: string
  className: string | undefined
  children: ReactNode
}

export function Sideways({ label, className, children }: SidewaysProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keys.
    <section className={className} aria-label={`${label}, scrolls sideways`} tabIndex={0}>
      {children}
    </section>
  )
}
