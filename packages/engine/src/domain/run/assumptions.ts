// What a decision assumes about other rows: who waits for an event name, and which events of a name came since the
// run began. The common case, nobody and none, is assumed without reading and guarded; when the guard fails, the
// service reads what is there and decides again (services/commit/decide-and-commit).

import type { CatalogView } from '../model/catalog.ts'
import type { Change, Guard } from '../model/change.ts'
import type { Event, Waiter, Watcher } from '../model/event.ts'
import type { FlowRow } from '../model/flow-row.ts'
import type { RunState } from './state.ts'

export interface Assumptions {
  /** By event name; a name that is missing is assumed to have none. */
  waiters: ReadonlyMap<string, readonly Waiter[]>
  /** By event name: events since the run was created, oldest first, up to log position `after`. */
  events: ReadonlyMap<string, { events: readonly Event[]; after: number }>
  /** Flow-control rows by id; one that is missing is assumed not to exist, `null` is known not to. */
  flow: ReadonlyMap<string, FlowRow | null>
  /** By event name: live runs that watch for it, up to position `after`. A name that is missing has none. */
  watchers: ReadonlyMap<string, { watchers: readonly Watcher[]; after: number }>
  /** By `liveKey`: ids of the live runs with that singleton key; one that is missing is assumed to have none. */
  live: ReadonlyMap<string, readonly string[]>
  /** Other runs that the decision ends, by id. Never assumed: asked for. */
  runs: ReadonlyMap<string, RunState>
  /** By arrival: what the limiter said. Never assumed: asked for, once. */
  limiterAnswers: ReadonlyMap<string, boolean>
  /** The catalog was looked at for this very decision, since it was found out of date: all that counted before is in it. */
  isCatalogFresh?: boolean
}

/** Shared by all that know nothing: decisions are many, and nearly all of them never learn anything. */
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>()

export function noAssumptions(): Assumptions {
  return {
    waiters: NOTHING,
    events: NOTHING,
    flow: NOTHING,
    watchers: NOTHING,
    live: NOTHING,
    runs: NOTHING,
    limiterAnswers: NOTHING,
  }
}

/** The map with one more entry, or another value for it. */
export function withEntry<V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> {
  return new Map(map).set(key, value)
}

/** The guard of a wait that found no event: none has come behind what is known. */
export function noLaterEvent(options: {
  assumptions: Assumptions
  namespace: string
  eventName: string
  since: number
}): Guard {
  const { assumptions, namespace, eventName, since } = options
  return { type: 'events', namespace, eventName, since, after: assumptions.events.get(eventName)?.after ?? 0 }
}

/**
 * The guard of whatever the catalog was asked for: what any engine acknowledged before counts. None is needed where the
 * catalog is this engine's own; nor when it was looked at since, or registrations that come one after the other would
 * hold up the decision for ever.
 */
export function catalogGuards({ revision }: CatalogView, { isCatalogFresh }: Assumptions): Guard[] {
  return revision === undefined || isCatalogFresh ? [] : [{ type: 'catalog', revision }]
}

/** What is known, with the flow-control rows that a decision has written itself. */
export interface OwnAssumptions extends Assumptions {
  /** The same as `flow`, once something was noted in it. */
  written?: Map<string, FlowRow | null>
}

/** What is known, for a decision that goes on to decide on rows it writes itself: see `noteWritten`. */
export function ownAssumptions(assumptions: Assumptions): OwnAssumptions {
  return { ...assumptions }
}

/** The state of a row that the decision itself has deleted. */
export const EMPTY_STATE = '{}'

/**
 * Notes the flow-control rows that `changes` write, for what the same decision decides next. They keep the version
 * they were read with, 0 if there was none: that is what their guards are about.
 */
export function noteWritten(assumptions: OwnAssumptions, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.type === 'flow.saved') {
      const version = assumptions.flow.get(change.row.id)?.version ?? 0
      writtenBy(assumptions).set(change.row.id, { ...change.row, version })
    } else if (change.type === 'flow.deleted') {
      const row = assumptions.flow.get(change.id)
      if (row) writtenBy(assumptions).set(change.id, { ...row, state: EMPTY_STATE })
    }
  }
}

/** The decision's own copy, made when it first writes. */
function writtenBy(assumptions: OwnAssumptions): Map<string, FlowRow | null> {
  if (!assumptions.written) {
    assumptions.written = new Map(assumptions.flow)
    assumptions.flow = assumptions.written
  }
  return assumptions.written
}
