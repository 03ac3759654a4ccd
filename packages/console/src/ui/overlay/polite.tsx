// Text that changes by itself and is spoken politely: it appears on the screen at once, and is put into its live region again
// when its turn comes.

import { type ReactNode, useEffect, useRef, useState } from 'react'
import { politeTurns } from './polite-turns.ts'

export interface PoliteProps {
  /** The text to speak. Nothing is spoken while it is empty. */
  text: string
  /** The shown content. Default: the text. */
  children?: ReactNode
  className?: string | undefined
}

export function Polite({ text, children = text, className }: PoliteProps) {
  const [spoken, setSpoken] = useState({ text: '', turns: 0 })
  const current = useRef(text)
  current.current = text
  const isDue = text !== '' && text !== spoken.text
  useEffect(() => {
    if (!isDue) return
    return politeTurns.ask(() => setSpoken(({ turns }) => ({ text: current.current, turns: turns + 1 })))
  }, [isDue])
  // A change in a region that is off is not spoken. A new element in a polite region is.
  return (
    <span role="status" aria-live={isDue ? 'off' : 'polite'}>
      <span key={spoken.turns} className={className}>
        {children}
      </span>
    </span>
  )
}
