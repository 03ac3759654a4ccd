// A throttle's line. A run takes its token from the limiter at the moment of its first start, and only then; one that
// finds none waits in line, queued. If the line is not empty, its first is available by the time the next start is free,
// or somebody is leased who was called before it: what changes that calls the line in its own commit (draft, begin, the
// claims). Who is called without need asks the limiter once more.

import type { Change } from '../model/change.ts'
import type { ThrottleHold } from '../model/holds.ts'
import { isTerminal, type Run } from '../model/run.ts'
import { timedOut } from './timeouts.ts'

/**
 * A throttle with more than one start in this time is kept to this time, not to each start: one that is taken late, since
 * whoever waited for it had to be woken first, does not put off the next.
 */
export const LATE_MS_MAX = 100

/** How late a start may be taken and count from when it was free. One that is free within this very ms is on time. */
export function lateMs(spacingMs: number): number {
  return Math.max(1, LATE_MS_MAX - spacingMs)
}

/** What the limiter answers who asks for a start. */
export interface Start {
  taken: boolean
  /**
   * When the next start is free, to fractions of a ms, and each one after it `periodMs / limit` later. It may have been
   * a while ago: then several are free at once.
   */
  freeAt: number
}

/** Runs whose starts come free within so long are called together: one by one, a fast throttle could not keep its rate. */
const TOGETHER_MS = 25
/** Most that are called at once. */
export const STARTS_WOKEN_MAX = 100

/** The throttle that must let the run start, if it goes on to a runner now: of its first start only. */
export function throttleToPass(run: Run, now: number): ThrottleHold | undefined {
  const goesOn = run.status !== 'paused' && !run.cancelRequested && run.heldSlot === undefined
  if (run.startedAt !== undefined || !goesOn || timedOut(run, now)) return undefined
  return run.holds?.throttle
}

/** Whether the run stands in the line of its throttle; leased, that it was called from there and has not started yet. */
export function waitsForThrottle(run: Run): boolean {
  return run.waitingFor?.kind === 'throttle' && run.startedAt === undefined && !isTerminal(run.status)
}

/** Whether the first run in line lets this one, which has just come, go before it. */
export function isAheadOf(run: Pick<Run, 'id' | 'priority'>, first: Pick<Run, 'id' | 'priority'>): boolean {
  const [own, other] = [run.priority ?? 0, first.priority ?? 0]
  return own === other ? run.id < first.id : own > other
}

/** Calls those in line whose starts come free next, for when all of them are: `freeAt` is when the first one is. */
export function wakeStartQueue({ id, limit, periodMs }: ThrottleHold, freeAt: number, now: number): Change {
  const spacing = periodMs / limit
  const free = 1 + Math.floor((now + TOGETHER_MS - freeAt) / spacing)
  const count = Math.max(1, Math.min(STARTS_WOKEN_MAX, free))
  return { type: 'startQueue.woken', id, count, at: Math.ceil(freeAt + (count - 1) * spacing) }
}

/** Calls the first in line to look for itself: somebody who was called before it does not start. */
export function wakeNextStart({ id }: ThrottleHold, now: number): Change {
  return { type: 'startQueue.woken', id, count: 1, at: now }
}
