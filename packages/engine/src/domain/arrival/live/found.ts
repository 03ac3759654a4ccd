// The waits and the watches to compare an event with: those without a match, and those with a match that have the key of the
// event (docs/events.md#match). Called by fanout.ts and cancel-on.ts.

import type { EventSubject } from '../../expressions/event-subject.ts'
import { eventMatchKey, pathsDigest } from '../../expressions/match.ts'
import type { Guard } from '../../model/change.ts'
import type { Question } from '../../model/decision.ts'
import type { Event, Waiter, Watcher } from '../../model/event.ts'
import { type Assumptions, matchName } from '../../run/assumptions.ts'

/** Rows to compare the event with, and the facts that the selection rests on. If there are questions, the rest is void. */
export interface Found<Row> {
  rows: readonly Row[]
  guards: Guard[]
  questions: Question[]
}

/** The steps that may wait for the event, oldest wait first. */
export function waitersFor(
  { namespace, name: eventName }: Pick<Event, 'namespace' | 'name'>,
  subject: EventSubject,
  assumptions: Assumptions,
): Found<Waiter> {
  const waiters = assumptions.waiters.get(eventName) ?? []
  const keys = matchKeys('waiters', eventName, { subject, assumptions })
  if (!keys) return { rows: waiters, guards: [{ type: 'waiters', namespace, eventName, waiters }], questions: [] }
  const guards: Guard[] = [
    { type: 'waiters', namespace, eventName, matchKey: null, waiters },
    { type: 'waitPaths', namespace, eventName, digests: keys.digests },
  ]
  const questions: Question[] = []
  const rows = [...waiters]
  for (const matchKey of keys.matchKeys) {
    const matched = assumptions.matchedWaiters.get(matchName('waiters', eventName, matchKey))
    if (!matched) {
      questions.push({ type: 'matched', kind: 'waiters', namespace, eventName, matchKey })
      continue
    }
    rows.push(...matched)
    guards.push({ type: 'waiters', namespace, eventName, matchKey, waiters: matched })
  }
  return { rows: rows.sort(byAge), guards, questions }
}

/** The live runs that may watch for the event. */
export function watchersFor(
  { namespace, name: eventName }: Pick<Event, 'namespace' | 'name'>,
  subject: EventSubject,
  assumptions: Assumptions,
): Found<Watcher> {
  const { watchers, after, isWhole } = assumptions.watchers.get(eventName) ?? { watchers: [], after: 0, isWhole: true }
  const guard = { type: 'watchers', namespace, eventName, after } as const
  if (isWhole) return { rows: watchers, guards: [guard], questions: [] }
  const { digests, matchKeys: keys } = matchKeys('watchers', eventName, { subject, assumptions }) ?? NO_KEYS
  const guards: Guard[] = [
    { ...guard, matchKey: null },
    { type: 'watchPaths', namespace, eventName, digests },
  ]
  const questions: Question[] = []
  const rows = [...watchers]
  for (const matchKey of keys) {
    const matched = assumptions.matchedWatchers.get(matchName('watchers', eventName, matchKey))
    if (!matched) {
      questions.push({ type: 'matched', kind: 'watchers', namespace, eventName, matchKey })
      continue
    }
    rows.push(...matched.watchers)
    guards.push({ ...guard, after: matched.after, matchKey })
  }
  return { rows, guards, questions }
}

interface MatchKeys {
  digests: readonly string[]
  /** The event's keys for the paths that it has. */
  matchKeys: readonly string[]
}

const NO_KEYS: MatchKeys = { digests: [], matchKeys: [] }

/** Returns undefined if no row for the name has a match. */
function matchKeys(
  kind: 'waiters' | 'watchers',
  eventName: string,
  { subject, assumptions }: { subject: EventSubject; assumptions: Assumptions },
): MatchKeys | undefined {
  const lists = assumptions.paths.get(matchName(kind, eventName))
  if (lists === undefined || lists.length === 0) return undefined
  return {
    digests: lists.map(pathsDigest),
    matchKeys: lists.flatMap(paths => eventMatchKey(paths, subject) ?? []),
  }
}

/** Sorts in the order of the store. */
function byAge(one: Waiter, other: Waiter): number {
  if (one.since !== other.since) return one.since - other.since
  if (one.runId !== other.runId) return one.runId < other.runId ? -1 : 1
  return one.stepIndex - other.stepIndex
}
