// Short messages that disappear by themselves. They are shown at once, and spoken when the turn of polite messages comes; errors
// are spoken at once.

import { useEffect, useId, useSyncExternalStore } from 'react'
import { shortName } from '../visible-text.ts'
import styles from './overlay.module.css'
import { politeTurns } from './polite-turns.ts'

interface Toast {
  id: number
  text: string
  isError: boolean
  /** The place in which it was spoken. */
  spokenIn?: string | undefined
}

/** Time that a message stays, counted from when it is spoken. */
const SHOWN_MS = 5000
const SHOWN_MAX = 3
const TEXT_MAX = 200

let toasts: readonly Toast[] = []
/** The places that can show messages, the topmost last: content behind a modal dialog is dimmed, and is not announced. */
let places: readonly string[] = []
let lastId = 0
/** Whether messages are waiting to be spoken. */
let isWaiting = false
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
  if (isError) {
    removeLater([id])
    return
  }
  if (!isWaiting) politeTurns.ask(speak, { isFirst: true })
  isWaiting = true
}

export const toastError = (error: Error): void => toast(error.message, { isError: true })

/** Speaks all waiting messages as one. */
function speak(): void {
  isWaiting = false
  const spokenIn = places.at(-1)
  const waiting = toasts.filter(each => !each.isError && each.spokenIn === undefined)
  set(toasts.map(each => (waiting.includes(each) ? { ...each, spokenIn } : each)))
  removeLater(waiting.map(({ id }) => id))
}

function removeLater(ids: readonly number[]): void {
  setTimeout(() => set(toasts.filter(({ id }) => !ids.includes(id))), SHOWN_MS)
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const NONE: readonly Toast[] = []

/** The visible messages: in the shell, and in a dialog while it is open. */
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
  const list = (isIn: (each: Toast) => boolean) =>
    shown.filter(isIn).map(({ id, text, isError }) => (
      <p key={id} className={styles.toast} data-error={isError || undefined}>
        {text}
      </p>
    ))
  return (
    <div className={styles.toasts}>
      <div role="status">{list(({ isError, spokenIn }) => !isError && spokenIn === place)}</div>
      {/* A separate region, which is not spoken. */}
      <div role="log" aria-live="off">
        {list(({ isError, spokenIn }) => !isError && spokenIn !== place)}
      </div>
      <div role="alert">{list(({ isError }) => isError)}</div>
    </div>
  )
}
