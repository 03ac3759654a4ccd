// Throttles. A run takes its token from the limiter at its first start, and only then; a run that finds none waits in the
// throttle's start queue. While the queue is not empty, its first run is available when the next start is free, or an earlier
// woken run is leased. Every commit that would break this wakes the queue (run/conclusion). A run that is woken unnecessarily
// queries the limiter once more.

import type { Change } from '../model/change.ts'
import type { ThrottleHold } from '../model/flow-control.ts'
import { isTerminal, type Run } from '../model/run.ts'
import { HELD_RECHECK_MS, NOT_HELD } from './concurrency.ts'
import { runDeadline, timedOut } from './timeouts.ts'

/**
 * A throttle with more than one start in this time keeps its rate over this time, not between two starts: a late start, whose
 * run had to be woken first, does not delay the next one.
 */
export const LATE_MS_MAX = 100

/** How many ms late a start may be and still count from when it was free; at least 1, the clock's resolution. */
export function lateMs(spacingMs: number): number {
  return Math.max(1, LATE_MS_MAX - spacingMs)
}

/** The limiter's answer to a query for a start. */
export interface Start {
  taken: boolean
  /**
   * When the next start is free, in fractions of a ms; each later start is free `periodMs / limit` after the previous one. If
   * this is in the past, several may be free at once.
   */
  freeAt: number
  /** Starts in a period, if an operator has set a limit. With 0 no start is ever free. */
  limit?: number
}

/**
 * Runs whose starts come free within this time wake together: if they woke one by one, a fast throttle could not keep its rate.
 */
const WAKE_WINDOW_MS = 25
/** Maximum runs that one wake-up makes available. */
export const STARTS_WOKEN_MAX = 100

/** The throttle that the run must pass before its first start; undefined when the run has started or cannot start now. */
export function throttleToPass(run: Run, now: number): ThrottleHold | undefined {
  const goesOn = run.status !== 'paused' && !run.cancelRequested && !run.leasedWithoutSlots
  if (run.startedAt !== undefined || !goesOn || timedOut(run, now)) return undefined
  return run.holds?.throttle
}

/**
 * Whether the run is in its throttle's start queue. This may include a leased run: it was woken from there and has not started.
 */
export function waitsForThrottle(run: Run): boolean {
  return run.waitingFor?.kind === 'throttle' && run.startedAt === undefined && !isTerminal(run.status)
}

/**
 * When the first run in the start queue may start. This is the next free start at the run's last query; a wake for a later
 * start, after another run took that one, moves `availableAt` to the later start. Before that, `availableAt` is at most the
 * next recheck.
 */
export function firstStartAt({ availableAt, waitingFor }: Pick<Run, 'availableAt' | 'waitingFor'>): number | undefined {
  const until = waitingFor?.until
  return until === undefined || availableAt === undefined ? (until ?? availableAt) : Math.max(until, availableAt)
}

/**
 * Holds the run in the start queue of its throttle, where only a wake, its deadline or a recheck makes it available. `until`:
 * when the next start is free.
 */
export function heldForStart(
  run: Run,
  { id, key }: ThrottleHold,
  { now, until }: { now: number; until?: number },
): Run {
  return {
    ...run,
    ...NOT_HELD,
    startQueue: id,
    availableAt: Math.min(now + HELD_RECHECK_MS, runDeadline(run) ?? Number.POSITIVE_INFINITY),
    leaseOwner: undefined,
    waitingFor: { kind: 'throttle', ...(key === undefined ? {} : { key }), ...(until === undefined ? {} : { until }) },
    fence: run.fence + 1,
  }
}

export type StartQueueWake = Extract<Change, { type: 'startQueue.woken' }>

/** Wakes the runs with the next free starts, once all of these starts are free. `freeAt` is when the first one is free. */
export function wakeStartQueue(
  { id, limit: registered, periodMs }: ThrottleHold,
  { freeAt, limit = registered }: Omit<Start, 'taken'>,
  now: number,
): StartQueueWake | undefined {
  if (limit === 0) return undefined
  const spacing = periodMs / limit
  const free = 1 + Math.floor((now + WAKE_WINDOW_MS - freeAt) / spacing)
  const count = Math.max(1, Math.min(STARTS_WOKEN_MAX, free))
  return { type: 'startQueue.woken', id, count, at: Math.ceil(freeAt + (count - 1) * spacing) }
}

/** Wakes the first run in the start queue to query the limiter, because a run that was woken earlier does not start. */
export function wakeNextStart({ id }: ThrottleHold, now: number): StartQueueWake {
  return { type: 'startQueue.woken', id, count: 1, at: now }
}
