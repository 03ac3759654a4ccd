// Thousands of runs may wait for one event, each with a filter over its own data. Their filters are evaluated in
// slices, between which the event loop goes on; the decision that follows only looks up what they said.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { isAwaited } from '../../domain/arrival/fanout.ts'
import { EventSubject, type Report } from '../../domain/expressions/matching.ts'
import type { Waiter } from '../../domain/model/event.ts'

/** Fewer waits than these are looked at in one go. */
export const FILTERS_AT_ONCE_MAX = 250
/** Characters of data, and of what a wait without any costs, that one slice looks at: a few milliseconds' work. */
const SLICE_CHARS = 500_000
const WAIT_CHARS = 2000

/** The waits whose filter the event meets; undefined when they are few, and the decision may look for itself. */
export async function evaluateFilters(
  waiters: readonly Waiter[],
  event: ConstructorParameters<typeof EventSubject>[0],
  report: Report,
): Promise<ReadonlySet<Waiter> | undefined> {
  if (waiters.length < FILTERS_AT_ONCE_MAX) return undefined
  const subject = new EventSubject(event)
  const awaited = new Set<Waiter>()
  let chars = SLICE_CHARS
  for (const waiter of waiters) {
    chars += WAIT_CHARS + (waiter.condition?.trigger.data?.length ?? 0)
    if (chars > SLICE_CHARS) {
      await nextTurn()
      chars = 0
    }
    if (isAwaited(waiter, subject, report)) awaited.add(waiter)
  }
  await nextTurn()
  return awaited
}
