// Decide, commit, and when somebody else won, learn what changed and decide again. Every service that decides on
// rows goes through here; StaleError does not get past it.

import type { Guard, Unit } from '../domain/change.ts'
import { StaleError } from '../domain/errors.ts'
import { type Known, nothingKnown } from '../domain/known.ts'
import type { Store } from '../ports/store.ts'

/** Lost races in a row before giving up: far beyond what contention brings, so reaching it is a defect. */
const RACES_MAX = 1000
/** Events read at once when a wait looks back. */
const EVENTS_PAGE = 200

export interface Attempt<D> {
  store: Store
  /** Decides with what is known; undefined: there is nothing (more) to do. */
  decide(known: Known): D | undefined | Promise<D | undefined>
  unit(decision: D): Unit
  /** How a unit is made durable; as the store does it, if absent. */
  commit?(unit: Unit): Promise<void>
  /** Called when a guard other than a `known` one no longer held; false: give up, without a result. */
  onStale(guard: Guard): boolean | Promise<boolean>
}

/** The decision that was made durable, or undefined if `decide` or `onStale` ended it. */
export async function attempt<D>(options: Attempt<D>): Promise<D | undefined> {
  const { store, decide, unit, commit = unit => store.commit(unit), onStale } = options
  const known = nothingKnown()
  for (let races = 0; races < RACES_MAX; races++) {
    const decision = await decide(known)
    if (decision === undefined) return undefined
    try {
      await commit(unit(decision))
      return decision
    } catch (error) {
      if (!(error instanceof StaleError)) throw error
      if (!(await learn(store, known, error.guard)) && !(await onStale(error.guard))) return undefined
    }
  }
  throw new Error(`Lost ${RACES_MAX} races in a row.`)
}

/** Reads what an assumption of `known` got wrong. False when the guard is about something else. */
async function learn(store: Store, known: Known, guard: Guard): Promise<boolean> {
  if (guard.type === 'waiters') {
    known.waiters.set(guard.eventName, await store.waiters(guard.namespace, guard.eventName))
    return true
  }
  if (guard.type === 'flow') {
    known.flow.set(guard.id, (await store.flowRow(guard.id)) ?? null)
    return true
  }
  if (guard.type === 'events') {
    const { namespace, eventName, since, after } = guard
    const page = await store.eventsSince({ namespace, eventName, since, after, limit: EVENTS_PAGE })
    const earlier = known.events.get(eventName)?.events ?? []
    known.events.set(eventName, {
      events: [...earlier, ...page.map(({ event }) => event)],
      after: page.at(-1)?.position ?? after,
    })
    return true
  }
  return false
}
