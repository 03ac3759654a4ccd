// Short messages that go by themselves: one polite live region, errors in an assertive one.

import { useSyncExternalStore } from 'react'
import { shortName } from '../visible-text.ts'
import styles from './overlay.module.css'

interface Toast {
  id: number
  text: string
  isError: boolean
}

const SHOWN_MS = 5000
const SHOWN_MAX = 3
const TEXT_MAX = 200

let toasts: readonly Toast[] = []
let lastId = 0
const listeners = new Set<() => void>()

function set(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

/** Shows a message for a few seconds. */
export function toast(text: string, { isError = false }: { isError?: boolean } = {}): void {
  const id = ++lastId
  set([...toasts, { id, text: shortName(text, TEXT_MAX), isError }].slice(-SHOWN_MAX))
  setTimeout(() => set(toasts.filter(each => each.id !== id)), SHOWN_MS)
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The messages that are shown. Once in the shell. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  const list = (isError: boolean) =>
    shown
      .filter(each => each.isError === isError)
      .map(({ id, text }) => (
        <p key={id} className={styles.toast} data-error={isError || undefined}>
          {text}
        </p>
      ))
  return (
    <div className={styles.toasts}>
      <div role="status">{list(false)}</div>
      <div role="alert">{list(true)}</div>
    </div>
  )
}
