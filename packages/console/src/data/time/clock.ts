// The engine's time in the browser: `GET /whoami` returns the engine's clock, and everything that is "ago" or live uses the
// offset to the time since the page was opened, which nobody can set. One timer ticks once a second for all texts that show time.

import { useSyncExternalStore } from 'react'

const TICK_MS = 1000
/** Maximum normal difference between the clocks of a machine. */
const JUMP_MS = 5000

/** When the page was opened, by the machine's clock as of the last tick that found it set. */
let openedAt = performance.timeOrigin
let offsetMs = openedAt
let tickedAt = performance.now()
let jumped: (() => void) | undefined
let isTicking = false
const listeners = new Set<() => void>()

/** Sets the offset from the engine's time, read in an answer that took from `sentAt` to now. */
export function syncClock(engineNow: string, sentAt: number): void {
  const now = performance.now()
  offsetMs = Date.parse(engineNow) - (sentAt + now) / 2
  tickedAt = now
}

/** Returns the engine's current time, in milliseconds since the epoch. */
export const engineNow = (): number => performance.now() + offsetMs

/** Calls `listener` after the machine's clock was set, or the machine slept: the offset may then be wrong. */
export function onClockJump(listener: () => void): void {
  jumped = listener
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (!isTicking) setInterval(tick, TICK_MS)
  isTicking = true
  return () => listeners.delete(listener)
}

function tick(): void {
  tickedAt = performance.now()
  const opened = Date.now() - tickedAt
  if (Math.abs(opened - openedAt) > JUMP_MS) {
    openedAt = opened
    jumped?.()
  }
  for (const each of listeners) each()
}

/** Reads the engine's time once a second. The component is rendered only when the result of `read` changes. */
export function useClock<Value extends string | number | undefined>(read: (nowMs: number) => Value): Value {
  return useSyncExternalStore(subscribe, () => read(tickedAt + offsetMs))
}

/** Returns the engine's time, updated once a second. */
export const useNow = (): number => useClock(nowMs => nowMs)
