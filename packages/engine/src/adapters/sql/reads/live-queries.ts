// Queries about runs that are under way: those that share a singleton key, and those that watch for an event. Called by
// the store.

import type { Watcher } from '../../../domain/model/event.ts'
import type { Query, Row } from '../tables/operations.ts'
import { selectWithPayload } from '../tables/payloads.ts'

/** Ids of the live runs of (namespace, workflow, app, singleton key). One that is asked to cancel is live no more. */
export const LIVE_RUNS = `SELECT id FROM runs WHERE namespace = ? AND workflow = ? AND app = ? AND singleton_key = ?
  AND finished_at IS NULL AND cancel_requested IS NULL`

/** What began the watching run: read only where a condition speaks of it. */
const TRIGGER = selectWithPayload('runs', ['trigger_id', 'trigger_name', 'input'], 'input')

export interface WatchersQuery {
  namespace: string
  eventName: string
  after: number
  limit: number
}

/** Rows for `watcherFromRow`, oldest first. */
export function watchersQuery({ namespace, eventName, after, limit }: WatchersQuery): Query {
  return {
    sql: `SELECT position, run_id, condition, ${TRIGGER} FROM run_watches
      LEFT JOIN runs ON condition IS NOT NULL AND runs.id = run_id
      WHERE run_watches.namespace = ? AND run_watches.event_name = ? AND position > ? ORDER BY position LIMIT ?`,
    params: [namespace, eventName, after, limit],
  }
}

type WatcherRow = [
  position: number,
  runId: string,
  filter: string | null,
  triggerId: string | null,
  triggerName: string | null,
  input: string | null,
]

export function watcherFromRow(row: Row): { position: number; watcher: Watcher } {
  const [position, runId, filter, id, name, data] = row as WatcherRow
  if (filter === null) return { position, watcher: { runId } }
  const trigger = { name: name ?? '', ...(id === null ? {} : { id }), ...(data === null ? {} : { data }) }
  return { position, watcher: { runId, condition: { filter, trigger } } }
}
