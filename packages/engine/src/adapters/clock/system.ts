// The clock of a real engine. backends passes it to every service.

import { uptime } from 'node:os'
import type { Clock } from '../../ports/clock.ts'
import { callAt } from './call-at.ts'

/**
 * Timers keep the process alive: an engine without a listener must still wake for a due run. Every caller therefore cancels
 * its timers when it closes; a closed engine has none left.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  at: (time, fn) => callAt(WALL, time, fn),
  after: (ms, fn) => callAt(MONOTONIC, performance.now() + ms, fn),
}

/** How long the machine has slept since this process began, if its monotonic clock stands still meanwhile. */
export function systemSleptMs(): number {
  return uptime() * 1000 - STARTED_UPTIME_MS - (performance.now() - STARTED_AT)
}

const STARTED_UPTIME_MS = uptime() * 1000
const STARTED_AT = performance.now()

const WALL = { now: () => Date.now(), after: timeout }
const MONOTONIC = { now: () => performance.now(), after: timeout }

function timeout(ms: number, fn: () => void): () => void {
  const timer = setTimeout(fn, ms)
  return () => clearTimeout(timer)
}
