// The check of every guard, as data: where it looks and what it expects there. The drivers make their statements from it. Also
// each guard's parameters and expected values, which unit-request.ts appends to a unit's request.

import type { Counted, Guard } from '../../../domain/model/change.ts'
import { INBOX_EVENTS_MAX } from '../../../domain/model/event.ts'
import type { Value } from '../description/values.ts'
import { runnerKey } from '../tables/registry.ts'
import { digestsFrom, WAITING, WATCHING } from './match-lists.ts'

/**
 * `none`: no row may be found. `value`: the one row's column has the expected value; without a row the check fails, unless no
 * value is expected. `rows`: the rows, in any order, are the expected ones.
 */
type Expectation = 'none' | 'value' | 'rows'

export interface GuardCheck {
  expects: Expectation
  columns: readonly string[]
  /** The SQL after FROM; placeholders as in statements.ts. */
  from: string
}

const none = (from: string): GuardCheck => ({ expects: 'none', columns: ['1'], from: `${from} LIMIT 1` })
/** Finds a row beyond the given number of rows of the namespace. */
const beyond = (table: string, of = ''): GuardCheck => ({
  expects: 'none',
  columns: ['1'],
  from: `${table} WHERE namespace = ?${of} LIMIT 1 OFFSET ?i`,
})
const value = (column: string, from: string): GuardCheck => ({ expects: 'value', columns: [column], from })
const rows = (columns: readonly string[], from: string): GuardCheck => ({ expects: 'rows', columns, from })

/** No run of these is in flight. The terms use only the index of the status: other indexes would lead to all ended runs. */
const idle = (of: string) =>
  none(`runs WHERE namespace = ? AND status IN ('queued', 'running', 'waiting', 'paused') AND ${of}`)

const liveWith = (column: 'singleton_key' | 'start_key') =>
  rows(
    ['id'],
    `runs WHERE namespace = ? AND workflow = ? AND app = ? AND ${column} = ?
    AND finished_at IS NULL AND cancel_requested IS NULL`,
  )
/** The live runs of (namespace, workflow, app, key). A run whose cancellation is requested is no longer live. */
export const LIVE_RUNS = {
  live: liveWith('singleton_key'),
  started: liveWith('start_key'),
  unended: rows(
    ['id'],
    'runs WHERE namespace = ? AND workflow = ? AND app = ? AND singleton_key = ? AND finished_at IS NULL',
  ),
} as const

export const GUARD_CHECKS = {
  run: value('fence', 'runs WHERE id = ?'),
  leased: value('lease_owner', 'runs WHERE id = ?'),
  steps: none('steps WHERE run_id = ? AND seq > ?i'),
  delivery: value('fence', 'deliveries WHERE id = ?'),
  endpoint: value('version', 'webhook_endpoints WHERE id = ?'),
  receiver: value('version', 'webhook_receivers WHERE id = ?'),
  flow: value('version', 'flow_rows WHERE id = ?'),
  limit: value('revision', 'budgets WHERE id = ? AND name = ?'),
  noFlow: none('flow_rows WHERE id = ?'),
  slug: none('webhook_receivers WHERE slug = ?'),
  ...LIVE_RUNS,
  watchers: none(`${WATCHING} AND position > ?i`),
  plainWatchers: none(`${WATCHING} AND match_key IS NULL AND position > ?i`),
  matchedWatchers: none(`${WATCHING} AND match_key = ? AND position > ?i`),
  watchPaths: rows(['digest'], digestsFrom(WATCHING)),
  noWatchPaths: none(`${WATCHING} AND match_key IS NOT NULL`),
  // Stops at the first of thousands.
  noWaiters: none(WAITING),
  waiters: rows(['run_id', 'idx'], WAITING),
  plainWaiters: rows(['run_id', 'idx'], `${WAITING} AND match_key IS NULL`),
  matchedWaiters: rows(['run_id', 'idx'], `${WAITING} AND match_key = ?`),
  waitPaths: rows(['digest'], digestsFrom(WAITING)),
  events: none('events WHERE namespace = ? AND name = ? AND position > (SELECT log_position FROM runs WHERE id = ?)'),
  eventsAfter: none('events WHERE namespace = ? AND name = ? AND position > ?i'),
  inbox: none('delivered_events WHERE inbox = ? AND position > ?i'),
  inboxRoom: {
    expects: 'none',
    columns: ['1'],
    from: `delivered_events WHERE inbox = (SELECT inbox FROM runs WHERE id = ?) LIMIT 1 OFFSET ${INBOX_EVENTS_MAX - 1}`,
  },
  dedupe: none('dedupes WHERE namespace = ? AND app = ? AND dedupe_id = ? AND expires_at > ?i'),
  givenId: none('given_run_ids WHERE namespace = ? AND given_id = ?'),
  unstarted: none('runs WHERE event_id = ? AND workflow = ? AND app = ?'),
  catalog: value('revision', 'catalog_revision'),
  runner: value('last_seen_at', 'runners WHERE namespace = ? AND app = ? AND runner_key = ?'),
  unpinned: none('runs WHERE namespace = ? AND app = ? AND runner = ? AND finished_at IS NULL'),
  paused: value(
    'paused',
    `(SELECT 1 AS paused FROM workflows WHERE namespace = ? AND app = ? AND name = ? AND paused_at IS NOT NULL
      UNION ALL SELECT 1 FROM kept_pauses WHERE namespace = ? AND app = ? AND name = ? LIMIT 1) AS p`,
  ),
  registered: value('name', 'workflows WHERE namespace = ? AND app = ? AND name = ?'),
  idleApp: idle(`app || '' = ?`),
  idle: idle(`app || '' = ? AND workflow || '' = ?`),
  apps: beyond('apps'),
  workflows: beyond('workflows'),
  runners: beyond('runners'),
  endpoints: beyond('webhook_endpoints'),
  receivers: beyond('webhook_receivers'),
  documents: beyond('documents', ' AND kind = ? AND id <> ?'),
  failed: value('error_key', 'runs WHERE namespace = ? AND error_key = ? LIMIT 1'),
} as const satisfies Record<Guard['type'], GuardCheck> & Record<string, GuardCheck>

export type CheckName = keyof typeof GUARD_CHECKS

export function checkSql({ columns, from }: GuardCheck): string {
  return `SELECT ${columns.join(', ')} FROM ${from}`
}

/** Appends the guard's check: its name, the numbers of its parameters and expected values, then both lists. */
export function appendCheck(to: Value[], guard: Guard): void {
  const append = APPENDS[guard.type] as (to: Value[], guard: Guard) => void
  append(to, guard)
}

const APPENDS: { [Type in Guard['type']]: (to: Value[], guard: Extract<Guard, { type: Type }>) => void } = {
  run: (to, { runId, fence }) => check(to, 'run', [runId], fence),
  leased: (to, { runId, owner }) => check(to, 'leased', [runId], owner),
  steps: (to, { runId, seq }) => check(to, 'steps', [runId, seq]),
  delivery: (to, { deliveryId, fence }) => check(to, 'delivery', [deliveryId], fence),
  endpoint: (to, { id, version }) => check(to, 'endpoint', [id], version),
  receiver: (to, { id, version }) => check(to, 'receiver', [id], version),
  flow: (to, { id, version }) => (version === 0 ? check(to, 'noFlow', [id]) : check(to, 'flow', [id], version)),
  limit: (to, { budgetId, name, revision }) => check(to, 'limit', [budgetId, name], revision),
  live: appendLive,
  started: appendLive,
  watchers: (to, { namespace, eventName, after, matchKey }) => {
    if (matchKey === undefined) check(to, 'watchers', [namespace, eventName, after])
    else if (matchKey === null) check(to, 'plainWatchers', [namespace, eventName, after])
    else check(to, 'matchedWatchers', [namespace, eventName, matchKey, after])
  },
  unended: appendLive,
  inbox: (to, { inbox, after }) => check(to, 'inbox', [inbox, after]),
  inboxRoom: (to, { runId }) => check(to, 'inboxRoom', [runId]),
  slug: (to, { slug }) => check(to, 'slug', [slug]),
  waiters: (to, { namespace, eventName, waiters, matchKey }) => {
    if (matchKey === undefined && waiters.length === 0) return check(to, 'noWaiters', [namespace, eventName])
    const params = typeof matchKey === 'string' ? [namespace, eventName, matchKey] : [namespace, eventName]
    to.push(waitersCheck(matchKey), params.length, 2 * waiters.length, ...params)
    // Not in one call: there can be more waits than a call takes arguments.
    for (const { runId, stepIndex } of waiters) to.push(runId, stepIndex)
  },
  waitPaths: (to, { namespace, eventName, digests }) =>
    check(to, 'waitPaths', [namespace, eventName, namespace, eventName, digests.length + 1], ...digests),
  watchPaths: (to, { namespace, eventName, digests }) => {
    if (digests.length === 0) check(to, 'noWatchPaths', [namespace, eventName])
    else check(to, 'watchPaths', [namespace, eventName, namespace, eventName, digests.length + 1], ...digests)
  },
  events: (to, { namespace, eventName, runId, after }) =>
    after === 'run'
      ? check(to, 'events', [namespace, eventName, runId])
      : check(to, 'eventsAfter', [namespace, eventName, after]),
  dedupe: (to, { namespace, app, dedupeId, now }) => check(to, 'dedupe', [namespace, app, dedupeId, now]),
  givenId: (to, { namespace, givenId }) => check(to, 'givenId', [namespace, givenId]),
  unstarted: (to, { eventId, workflow, app }) => check(to, 'unstarted', [eventId, workflow, app]),
  catalog: (to, { revision }) => check(to, 'catalog', [], revision),
  runner: (to, { namespace, app, runnerId, lastSeenAt }) =>
    check(to, 'runner', [namespace, app, runnerKey(runnerId)], lastSeenAt),
  unpinned: (to, { namespace, app, runnerId }) => check(to, 'unpinned', [namespace, app, runnerId]),
  paused: (to, { namespace, app, workflow }) =>
    check(to, 'paused', [namespace, app, workflow, namespace, app, workflow], 1),
  registered: (to, { namespace, app, workflow }) => check(to, 'registered', [namespace, app, workflow], workflow),
  idle: (to, { namespace, app, workflow }) =>
    workflow === undefined ? check(to, 'idleApp', [namespace, app]) : check(to, 'idle', [namespace, app, workflow]),
  apps: appendCount,
  workflows: appendCount,
  runners: appendCount,
  endpoints: appendCount,
  receivers: appendCount,
  documents: (to, { namespace, kind, id, most }) => check(to, 'documents', [namespace, kind, id, most]),
  failed: (to, { namespace, fingerprint }) => check(to, 'failed', [namespace, fingerprint], fingerprint),
}

export const GUARD_TYPES = Object.keys(APPENDS) as Guard['type'][]

function waitersCheck(matchKey: string | null | undefined): CheckName {
  if (matchKey === undefined) return 'waiters'
  return matchKey === null ? 'plainWaiters' : 'matchedWaiters'
}

function appendLive(
  to: Value[],
  { type, namespace, app, workflow, key, runIds }: Extract<Guard, { type: 'live' | 'unended' | 'started' }>,
): void {
  check(to, type, [namespace, workflow, app, key], ...runIds)
}

function appendCount(to: Value[], { type, namespace, most }: Extract<Guard, { type: Counted }>): void {
  check(to, type, [namespace, most])
}

function check(to: Value[], name: CheckName, params: readonly Value[], ...expected: Value[]): void {
  to.push(name, params.length, expected.length, ...params, ...expected)
}
