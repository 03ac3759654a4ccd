// Thousands of runs may wait for one event, each with a filter over its own data. Evaluates the filters in slices, between
// which the event loop goes on; the decision that follows only looks up the results. Called by ingest.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { EventSubject, isAwaited, type Report } from '../../domain/expressions/matching.ts'
import type { Waiter } from '../../domain/model/event.ts'

/** With fewer waits, the decision evaluates the filters itself. */
export const FILTERS_AT_ONCE_MAX = 250
/** Characters of data in one slice: a few milliseconds' work. */
const FILTER_SLICE_CHARS = 500_000
/** The cost of a wait without data, in characters. */
const FILTER_WAIT_CHARS = 2000

/** The waits whose filter the event meets; undefined when they are so few that the decision evaluates them itself. */
export async function evaluateFilters(
  waiters: readonly Waiter[],
  event: ConstructorParameters<typeof EventSubject>[0],
  report: Report,
): Promise<ReadonlySet<Waiter> | undefined> {
  if (waiters.length < FILTERS_AT_ONCE_MAX) return undefined
  const subject = new EventSubject(event)
  const awaited = new Set<Waiter>()
  let chars = FILTER_SLICE_CHARS
  for (const waiter of waiters) {
    chars += FILTER_WAIT_CHARS + (waiter.condition?.trigger.data?.length ?? 0)
    if (chars > FILTER_SLICE_CHARS) {
      await nextTurn()
      chars = 0
    }
    if (isAwaited(waiter, subject, report)) awaited.add(waiter)
  }
  await nextTurn()
  return awaited
}
