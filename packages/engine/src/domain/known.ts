// What a decision assumes about other rows: who waits for an event name, and which events of a name came since the
// run began. The common case, nobody and none, is assumed without reading and guarded; when the guard fails, the
// service reads what is there and decides again (services/attempt).

import type { Change, Guard } from './change.ts'
import type { Event, Waiter, Watcher } from './event.ts'
import type { FlowRow } from './flow/flow-row.ts'
import type { RunState } from './run-state.ts'

export interface Known {
  /** By event name; a name that is missing is assumed to have none. */
  waiters: Map<string, readonly Waiter[]>
  /** By event name: events since the run was created, oldest first, up to log position `after`. */
  events: Map<string, { events: readonly Event[]; after: number }>
  /** Flow-control rows by id; one that is missing is assumed not to exist, `null` is known not to. */
  flow: Map<string, FlowRow | null>
  /** By event name: live runs that watch for it, up to position `after`. A name that is missing has none. */
  watchers: Map<string, { watchers: readonly Watcher[]; after: number }>
  /** By `liveKey`: ids of the live runs with that singleton key; one that is missing is assumed to have none. */
  live: Map<string, readonly string[]>
  /** Other runs that the decision ends, by id. Never assumed: asked for. */
  runs: Map<string, RunState>
  /** By arrival: what the limiter said. Never assumed: asked for, once. */
  admitted: Map<string, boolean>
}

/** What a decision must know, and cannot assume, before it can be made. Answered into `Known`, it decides again. */
export type Ask =
  | { type: 'flow'; id: string }
  | { type: 'run'; runId: string }
  /** A token of the limiter's, for the arrival `of`. */
  | { type: 'take'; of: string; quota: { key: string; limit: number; periodMs: number; now: number } }

export function nothingKnown(): Known {
  return {
    waiters: new Map(),
    events: new Map(),
    flow: new Map(),
    watchers: new Map(),
    live: new Map(),
    runs: new Map(),
    admitted: new Map(),
  }
}

/** The guard of a wait that found no event: none has come behind what is known. */
export function noLaterEvent(options: {
  known: Known
  namespace: string
  eventName: string
  since: number
}): Guard {
  const { known, namespace, eventName, since } = options
  return { type: 'events', namespace, eventName, since, after: known.events.get(eventName)?.after ?? 0 }
}

/** What is known, for a decision that goes on to decide on rows it writes itself: see `noteWritten`. */
export function ownKnown(known: Known): Known {
  return { ...known, flow: new Map(known.flow) }
}

/** The state of a row that the decision itself has deleted. */
export const EMPTY_STATE = '{}'

/**
 * Notes the flow-control rows that `changes` write, for what the same decision decides next. They keep the version
 * they were read with, 0 if there was none: that is what their guards are about.
 */
export function noteWritten(known: Known, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.type === 'flow.saved') {
      const version = known.flow.get(change.row.id)?.version ?? 0
      known.flow.set(change.row.id, { ...change.row, version })
    } else if (change.type === 'flow.deleted') {
      const row = known.flow.get(change.id)
      if (row) known.flow.set(change.id, { ...row, state: EMPTY_STATE })
    }
  }
}
