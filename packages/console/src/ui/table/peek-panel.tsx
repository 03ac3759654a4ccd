// A preview of a row without leaving the list, in a corner of the window: while the pointer rests on the row, or until it is
// unpinned.

import { cutText } from '@perdure/protocol/portable'
import type { ReactNode } from 'react'
import { Visible } from '../visible.tsx'
import styles from './peek-panel.module.css'

const TEXT_MAX = 600

export interface PeekPanelProps {
  /** The panel's name for screen readers. */
  name: string
  head: ReactNode
  isPinned: boolean
  children: ReactNode
}

export function PeekPanel({ name, head, isPinned, children }: PeekPanelProps) {
  return (
    <aside className={styles.peek} aria-label={name} data-pinned={isPinned || undefined}>
      <p className={styles.head}>{head}</p>
      {children}
      {isPinned && <p className="mute">Space or Esc closes it.</p>}
    </aside>
  )
}

/** A text of the row, cut to a readable length. */
export function PeekPart({ name, text }: { name: string; text: string | undefined }) {
  if (text === undefined || text === '') return null
  return (
    <div>
      <h2>{name}</h2>
      <pre>
        <Visible text={cutText(text, TEXT_MAX, '…')} />
      </pre>
    </div>
  )
}
