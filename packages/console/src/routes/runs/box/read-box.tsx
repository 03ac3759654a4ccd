// Applies the text typed into the box, or explains why it cannot be read. Loaded when the box is used.

import { useEffect, useMemo } from 'react'
import styles from '../runs.module.css'
import { type Filters, readBox } from './box.ts'

export interface ReadBoxProps {
  /** The text: a new object each time it is submitted. */
  sent: { text: string }
  onRead(filters: Filters): void
}

export default function ReadBox({ sent, onRead }: ReadBoxProps) {
  const read = useMemo(() => readBox(sent.text), [sent])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a text is applied once.
  useEffect(() => {
    if ('filters' in read) onRead(read.filters)
  }, [read])
  if ('filters' in read) return null
  return (
    <p role="alert" className={styles.refused}>
      {read.refused}
    </p>
  )
}
