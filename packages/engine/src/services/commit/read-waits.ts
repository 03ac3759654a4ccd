// Reads the waits and the watches for an event name that a decision assumed not to exist, or that have changed since they were
// read. Called by decide-and-commit.ts.

import type { Guard } from '../../domain/model/change.ts'
import type { Question } from '../../domain/model/decision.ts'
import type { MatchPaths } from '../../domain/model/event.ts'
import { type Assumptions, matchName, type Watches } from '../../domain/run/assumptions.ts'
import type { Store } from '../../ports/store.ts'

/** Watches in one read when an event cancels. */
const WATCHERS_PAGE = 1000
/** Lists of paths that are looked up one by one. With more of them, all waits for the name are read. */
const MATCH_LISTS_MAX = 32

type GuardOf<Type extends Guard['type']> = Extract<Guard, { type: Type }>

/** Reads the waits of the guard: those that have its key, or all for the name. */
export async function readWaiters(
  store: Store,
  assumptions: Assumptions,
  guard: GuardOf<'waiters' | 'waitPaths'>,
): Promise<void> {
  const { namespace, eventName } = guard
  if (guard.type === 'waiters' && typeof guard.matchKey === 'string')
    return readMatched(store, assumptions, { kind: 'waiters', namespace, eventName, matchKey: guard.matchKey })
  const found = await store.waiters({ namespace, eventName, listsMax: MATCH_LISTS_MAX })
  const isLooked = found.lists.length <= MATCH_LISTS_MAX
  const all = isLooked ? found.waiters : (await store.waiters({ namespace, eventName, isWhole: true })).waiters
  assumptions.waiters = new Map(assumptions.waiters).set(eventName, all)
  setLists(assumptions, matchName('waiters', eventName), isLooked ? found.lists : [])
}

/** Reads the next page of the guard's watches: those that have its key, or all for the name. */
export async function readWatchers(
  store: Store,
  assumptions: Assumptions,
  guard: GuardOf<'watchers' | 'watchPaths'>,
): Promise<void> {
  const { namespace, eventName } = guard
  if (guard.type === 'watchers' && typeof guard.matchKey === 'string')
    return readMatched(store, assumptions, { kind: 'watchers', namespace, eventName, matchKey: guard.matchKey })
  const earlier = assumptions.watchers.get(eventName)
  const of = { namespace, eventName, limit: WATCHERS_PAGE }
  if (!earlier?.isWhole) {
    const found = await store.watchers({ ...of, after: earlier?.after ?? 0, listsMax: MATCH_LISTS_MAX })
    if (found.lists.length <= MATCH_LISTS_MAX) {
      setLists(assumptions, matchName('watchers', eventName), found.lists)
      assumptions.watchers = new Map(assumptions.watchers).set(eventName, withPage(earlier, found.watchers))
      return
    }
  }
  const before = earlier?.isWhole ? earlier : undefined
  const { watchers } = await store.watchers({ ...of, after: before?.after ?? 0, isWhole: true })
  const read: Watches = { ...withPage(before, watchers), isWhole: true }
  setLists(assumptions, matchName('watchers', eventName), [])
  assumptions.watchers = new Map(assumptions.watchers).set(eventName, read)
}

/** Reads the waits with the key of a match, or the next page of the watches with it. */
export async function readMatched(
  store: Store,
  assumptions: Assumptions,
  { kind, namespace, eventName, matchKey }: Omit<Extract<Question, { type: 'matched' }>, 'type'>,
): Promise<void> {
  const name = matchName(kind, eventName, matchKey)
  if (kind === 'waiters') {
    const { waiters } = await store.waiters({ namespace, eventName, matchKey })
    assumptions.matchedWaiters = new Map(assumptions.matchedWaiters).set(name, waiters)
    return
  }
  const earlier = assumptions.matchedWatchers.get(name)
  const after = earlier?.after ?? 0
  const { watchers } = await store.watchers({ namespace, eventName, matchKey, after, limit: WATCHERS_PAGE })
  assumptions.matchedWatchers = new Map(assumptions.matchedWatchers).set(name, withPage(earlier, watchers))
}

function withPage(
  earlier: Watches | undefined,
  page: Awaited<ReturnType<Store['watchers']>>['watchers'],
): Omit<Watches, 'isWhole'> {
  return {
    watchers: [...(earlier?.watchers ?? []), ...page.map(({ watcher }) => watcher)],
    after: page.at(-1)?.position ?? earlier?.after ?? 0,
  }
}

function setLists(assumptions: Assumptions, name: string, lists: readonly MatchPaths[]): void {
  if (lists.length === 0 && !assumptions.paths.has(name)) return
  assumptions.paths = new Map(assumptions.paths).set(name, lists)
}
