// Short messages that go by themselves: one polite live region, errors in an assertive one.

import { useEffect, useId, useSyncExternalStore } from 'react'
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
/** The places that can show messages, the topmost last: what lies behind a modal dialog is dimmed, and is not announced. */
let places: readonly string[] = []
let lastId = 0
const listeners = new Set<() => void>()

function set(next: readonly Toast[]): void {
  toasts = next
  changed()
}

function changed(): void {
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

const NONE: readonly Toast[] = []

/** The messages that are shown: in the shell, and in a dialog while it is open. */
export function Toasts() {
  const place = useId()
  const isTop = useSyncExternalStore(subscribe, () => places.at(-1) === place)
  const all = useSyncExternalStore(subscribe, () => toasts)
  const shown = isTop ? all : NONE
  useEffect(() => {
    places = [...places, place]
    changed()
    return () => {
      places = places.filter(each => each !== place)
      changed()
    }
  }, [place])
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
