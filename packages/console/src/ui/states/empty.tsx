// Lists without rows: because there has never been one, or because of the filters.

import type { ReactNode } from 'react'
import { Button } from '../button.tsx'
import { CopyButton } from '../overlay/copy.tsx'
import styles from './states.module.css'

/** There has never been a row: explains how to create the first one. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** Commands to copy. */
export function Snippet({ text }: { text: string }) {
  return (
    <div className={styles.snippet}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll sideways, by keyboard too. */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={text} label="Copy commands" />
    </div>
  )
}

/** An active filter as text, and a way to drop it. */
export interface ActiveFilter {
  label: string
  drop(): void
}

/** No row passes the filters: shows a button for each to drop it. */
export function FilteredEmpty({ what, filters }: { what: string; filters: readonly ActiveFilter[] }) {
  return (
    <div className={styles.empty}>
      <h2>No matching {what}</h2>
      <div className={styles.filters}>
        {filters.map(({ label, drop }) => (
          <Button key={label} onClick={drop} aria-label={`Remove ${label}`}>
            {label} ✕
          </Button>
        ))}
      </div>
    </div>
  )
}
