// Queries about steps that wait for an event and about live runs that an event cancels, and what their rows mean. Called by
// the store.

import type { WaitCondition, Waiter, Watcher } from '../../../domain/model/event.ts'
import type { Query, Row } from '../description/values.ts'

/** The trigger of a run, read only for runs with a condition. */
const TRIGGER = `runs.trigger_id, runs.trigger_name,
  coalesce(runs.input, (SELECT body FROM payloads WHERE payloads.id = runs.id))`
type TriggerColumns = [id: string | null, name: string | null, input: string | null]

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

export function watcherFromRow(row: Row): { position: number; watcher: Watcher } {
  const [position, runId, filter, ...trigger] = row as [number, string, string | null, ...TriggerColumns]
  return { position, watcher: { runId, ...conditionOf(filter, trigger) } }
}

/** Rows for `waiterFromRow`, oldest wait first. */
export function waitersQuery(namespace: string, eventName: string): Query {
  return {
    sql: `SELECT run_id, idx, condition, steps.started_at, ${TRIGGER} FROM steps
      LEFT JOIN runs ON condition IS NOT NULL AND runs.id = run_id
      WHERE steps.namespace = ? AND steps.event_name = ? AND steps.status = 'waiting'
      ORDER BY steps.started_at, run_id, idx`,
    params: [namespace, eventName],
  }
}

export function waiterFromRow(row: Row): Waiter {
  const [runId, stepIndex, filter, since, ...trigger] = row as [
    runId: string,
    stepIndex: number,
    filter: string | null,
    since: number,
    ...TriggerColumns,
  ]
  return { runId, stepIndex, since, ...conditionOf(filter, trigger) }
}

function conditionOf(filter: string | null, [id, name, data]: TriggerColumns) {
  if (filter === null) return {}
  const trigger = { name: name ?? '', ...(id === null ? {} : { id }), ...(data === null ? {} : { data }) }
  return { condition: { filter, trigger } satisfies WaitCondition }
}
