// Logs filters that could not be evaluated: once per trigger, or wait, and minute, however many events meet it
// (decisions, "Events").

import type { Logger } from 'pino'
import type { FilterFault, Report } from '../domain/matching.ts'
import type { Clock } from '../ports/clock.ts'

const QUIET_MS = 60_000
/** Filters that are remembered as logged; beyond it the memory starts anew. */
const REMEMBERED_MAX = 10_000

/** A report that writes to the log. */
export function filterLog(clock: Clock, log: Logger): Report {
  const loggedAt = new Map<string, number>()
  return fault => {
    const now = clock.now()
    const key = keyOf(fault)
    if (now - (loggedAt.get(key) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return
    if (loggedAt.size >= REMEMBERED_MAX) loggedAt.clear()
    loggedAt.set(key, now)
    const { of, filter, error } = fault
    log.warn(
      { ...of, filter, error },
      'an expression could not be evaluated: a filter did not match, a key counts as empty',
    )
  }
}

function keyOf({ of, filter }: FilterFault): string {
  return JSON.stringify([...Object.values(of), filter])
}
