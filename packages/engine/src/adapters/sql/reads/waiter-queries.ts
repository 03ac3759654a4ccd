// Queries about steps that wait for an event and about live runs that an event cancels, and the meaning of their rows. Called by
// the store.

import { pathsOf } from '../../../domain/expressions/match.ts'
import type { MatchPaths, WaitCondition, Waiter, Watcher } from '../../../domain/model/event.ts'
import type { WaitsQuery } from '../../../ports/store.ts'
import type { Query, Row } from '../description/values.ts'
import { firstKeys, WAITING, WATCHING } from '../write/match-lists.ts'

/** The trigger of a run, read only for runs with a condition. */
const TRIGGER = `runs.trigger_id, runs.trigger_name,
  coalesce(runs.input, (SELECT body FROM payloads WHERE payloads.id = runs.id))`
type TriggerColumns = [id: string | null, name: string | null, input: string | null]

const HAS_CONDITION = '(condition IS NOT NULL OR match IS NOT NULL)'

export interface WatchersQuery extends WaitsQuery {
  after: number
  limit: number
}

/** Rows for `watcherFromRow`, oldest first. */
export function watchersQuery(query: WatchersQuery): Query {
  const { namespace, eventName, after, limit } = query
  const [term, params] = matchTerm(query)
  return {
    sql: `SELECT position, run_id, condition, match, until, ${TRIGGER} FROM run_watches
      LEFT JOIN runs ON ${HAS_CONDITION} AND runs.id = run_id
      WHERE run_watches.namespace = ? AND run_watches.event_name = ?${term} AND position > ? ORDER BY position LIMIT ?`,
    params: [namespace, eventName, ...params, after, limit],
  }
}

export function watcherFromRow(row: Row): { position: number; watcher: Watcher } {
  const [position, runId, filter, match, until, ...trigger] = row as [
    position: number,
    runId: string,
    filter: string | null,
    match: string | null,
    until: number | null,
    ...TriggerColumns,
  ]
  const condition = conditionOf({ filter, match }, trigger)
  return { position, watcher: { runId, ...condition, ...(until === null ? {} : { until }) } }
}

/** Rows for `waiterFromRow`, oldest wait first. */
export function waitersQuery(query: WaitsQuery): Query {
  const [term, params] = matchTerm(query)
  return {
    sql: `SELECT run_id, idx, condition, match, steps.started_at, ${TRIGGER} FROM steps
      LEFT JOIN runs ON ${HAS_CONDITION} AND runs.id = run_id
      WHERE steps.namespace = ? AND steps.event_name = ? AND steps.status = 'waiting'${term}
      ORDER BY steps.started_at, run_id, idx`,
    params: [query.namespace, query.eventName, ...params],
  }
}

export function waiterFromRow(row: Row): Waiter {
  const [runId, stepIndex, filter, match, since, ...trigger] = row as [
    runId: string,
    stepIndex: number,
    filter: string | null,
    match: string | null,
    since: number,
    ...TriggerColumns,
  ]
  return { runId, stepIndex, since, ...conditionOf({ filter, match }, trigger) }
}

function matchTerm({ matchKey, isWhole }: WaitsQuery): [sql: string, params: string[]] {
  if (isWhole) return ['', []]
  return matchKey === undefined ? [' AND match_key IS NULL', []] : [' AND match_key = ?', [matchKey]]
}

function conditionOf(of: { filter: string | null; match: string | null }, [id, name, data]: TriggerColumns) {
  const { filter, match } = of
  if (filter === null && match === null) return {}
  const trigger = { name: name ?? '', ...(id === null ? {} : { id }), ...(data === null ? {} : { data }) }
  const condition: WaitCondition = {
    ...(filter === null ? {} : { filter }),
    ...(match === null ? {} : { match: JSON.parse(match) }),
    trigger,
  }
  return { condition }
}

/** Rows for `pathsFromRow`: one match for each list of paths. */
function listsQuery(from: string, { namespace, eventName, listsMax = 0 }: WaitsQuery): Query {
  return {
    sql: `${firstKeys(from, '?')}
      SELECT (SELECT match FROM ${from} AND match_key = lists.match_key LIMIT 1) FROM lists WHERE match_key IS NOT NULL`,
    params: [namespace, eventName, namespace, eventName, listsMax + 1, namespace, eventName],
  }
}

export const waitListsQuery = (query: WaitsQuery): Query => listsQuery(WAITING, query)
export const watchListsQuery = (query: WaitsQuery): Query => listsQuery(WATCHING, query)

export function pathsFromRow([match]: Row): MatchPaths {
  return pathsOf(JSON.parse(match as string))
}
