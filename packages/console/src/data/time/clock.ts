// The engine's time in the browser: `GET /whoami` gives the engine's clock, and everything that is "ago" or live goes by the
// offset. One timer ticks once a second for all texts that show time.

import { useSyncExternalStore } from 'react'

const TICK_MS = 1000

let offsetMs = 0
let tickedAt = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

/** Sets the offset from the engine's time, read in an answer that took from `sentAt` to now. */
export function syncClock(engineNow: string, sentAt: number): void {
  const now = Date.now()
  offsetMs = Date.parse(engineNow) - (sentAt + now) / 2
  tickedAt = now
}

/** The engine's time now, in milliseconds since the epoch. */
export const engineNow = (): number => Date.now() + offsetMs

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    tickedAt = Date.now()
    for (const each of listeners) each()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** Reads the engine's time once a second. The component is rendered only when what `read` makes of it changes. */
export function useClock<Value extends string | number | undefined>(read: (nowMs: number) => Value): Value {
  return useSyncExternalStore(subscribe, () => read(tickedAt + offsetMs))
}

/** The engine's time, renewed once a second. */
export const useNow = (): number => useClock(nowMs => nowMs)
