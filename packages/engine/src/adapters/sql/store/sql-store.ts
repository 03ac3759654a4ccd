// The Store port on any SQL database: sends units and tasks to the database's writer, queries to its readers, and reads rows
// back into domain objects. One class for both dialects.

import type { LiveKey } from '../../../domain/arrival/live/live-runs.ts'
import type { BudgetLine } from '../../../domain/model/budget/budget.ts'
import type { Unit } from '../../../domain/model/change.ts'
import { invariant, StaleError } from '../../../domain/model/errors.ts'
import type { DedupeKey, InboxRead } from '../../../domain/model/event.ts'
import type { FlowRow } from '../../../domain/model/flow-row.ts'
import type { LoadedRun } from '../../../domain/run/state.ts'
import type { Admin } from '../../../ports/admin.ts'
import type {
  Claim,
  ClaimedDelivery,
  ClaimsOfWorkflow,
  Configured,
  DeliveryClaim,
  EndsToCount,
  Lane,
  Pruning,
  RunClaim,
  SincePositioned,
  Store,
  StoreStats,
  StoreTimes,
  WaitsQuery,
} from '../../../ports/store.ts'
import type { Reads } from '../../../ports/store-reads.ts'
import type { StreamReads } from '../../../ports/stream-reads.ts'
import type { Task, UnitRequest } from '../batches/requests.ts'
import { LANE_TABLES } from '../claims/lanes.ts'
import type { Table } from '../description/table.ts'
import type { Row, Value } from '../description/values.ts'
import { lastAcceptedQuery } from '../reads/delivery-queries.ts'
import { deliveredEvent, type EventsSince, eventsSinceQuery, inboxQuery } from '../reads/event-queries.ts'
import { loadedRun, loadQueries } from '../reads/runs/run-queries.ts'
import { ScanQueue } from '../reads/scan/scan-queue.ts'
import { SqlReads } from '../reads/sql-reads.ts'
import { SqlStreamReads } from '../reads/streams/sql-stream-reads.ts'
import {
  pathsFromRow,
  type WatchersQuery,
  waiterFromRow,
  waitersQuery,
  waitListsQuery,
  watcherFromRow,
  watchersQuery,
  watchListsQuery,
} from '../reads/waiter-queries.ts'
import { claimedDelivery } from '../tables/deliveries.ts'
import { positionedEvent } from '../tables/events.ts'
import { BUDGETS, FLOW_ROWS } from '../tables/flow-rows.ts'
import { APPS, KEPT_PAUSES, RUNNERS, STEP_LIMITS, WORKFLOWS } from '../tables/registry.ts'
import { ENDPOINTS, RECEIVERS } from '../tables/webhooks.ts'
import { BroadcastFairness } from '../write/broadcast-fairness.ts'
import { appendOperation } from '../write/change-operations.ts'
import { checkSql, GUARD_TYPES, LIVE_RUNS } from '../write/guard-checks.ts'
import { isLong, longUnitRequest, unitRequest } from '../write/unit-request.ts'
import type { ClaimedRuns, Database } from './database.ts'
import { SqlAdmin } from './sql-admin.ts'

/** Events of an inbox in one read. */
const INBOX_PAGE = 100

export class SqlStore implements Store {
  readonly #database: Database
  readonly #scans: ScanQueue
  readonly #fairness = new BroadcastFairness()
  #commits = 0
  readonly #stale = Object.fromEntries(GUARD_TYPES.map(type => [type, 0])) as StoreStats['stale']
  readonly admin: Admin
  readonly streams: StreamReads
  readonly times?: StoreTimes

  constructor(database: Database, times?: StoreTimes) {
    this.#database = database
    this.#scans = new ScanQueue((queries, signal) => database.scan(queries, signal), database.scansAtOnce)
    if (times) this.times = times
    this.admin = new SqlAdmin(database)
    this.streams = new SqlStreamReads(queries => database.read(queries))
  }

  stats(): StoreStats {
    const { stats, sizes, pending } = this.#database.writer
    return {
      ...stats,
      commits: this.#commits,
      stale: { ...this.#stale },
      pending,
      batchSizes: sizes,
    }
  }

  failure(): Error | undefined {
    return this.#database.writer.failure
  }

  async commit(unit: Unit): Promise<void> {
    if (this.#fairness.isActive) await this.#fairness.waitForBroadcasts(unit)
    const request = isLong(unit) ? await longUnitRequest(unit) : unitRequest(unit)
    const failed = await this.#database.writer.submit<number | null>(request, { refusable: true })
    if (failed === null) {
      this.#commits++
      this.#fairness.committed(unit)
      return
    }
    const guard = unit.guards[failed]
    invariant(guard, `the writer names a check that the unit does not have: ${failed}`)
    this.#stale[guard.type]++
    if (guard.type === 'waiters') this.#fairness.lost(unit)
    throw new StaleError(guard)
  }

  async claimRuns(claim: RunClaim): Promise<LoadedRun[]> {
    const { onLeft, ...bounds } = claim
    const { claimed, left } = await this.#perform<ClaimedRuns>({ type: 'claimRuns', claim: bounds })
    onLeft?.(left)
    return claimed.map(({ run, steps, rootLogged }) => loadedRun(run, steps, rootLogged))
  }

  async claimDeliveries(claim: DeliveryClaim): Promise<ClaimedDelivery[]> {
    return (await this.#perform<Row[]>({ type: 'claimDeliveries', claim })).map(claimedDelivery)
  }

  async claimTimers(claim: Claim): Promise<FlowRow[]> {
    return (await this.#perform<Row[]>({ type: 'claimTimers', claim })).map(FLOW_ROWS.fromRow)
  }

  async nextAvailableAt(lane: Lane, after = -1): Promise<number | undefined> {
    const { table, dueBy } = LANE_TABLES[lane]
    const earliest = dueBy.map(
      ({ column, where }) => `SELECT min(${column}) AS at FROM ${table} WHERE ${where} AND ${column} > ?`,
    )
    const sql = `SELECT min(at) FROM (${earliest.join(' UNION ALL ')}) AS earliest`
    const [row] = await this.#rows(
      sql,
      dueBy.map(() => after),
    )
    return (row?.[0] as number | null) ?? undefined
  }

  async extendRuns(owner: string, runIds: readonly string[], until: number): Promise<string[]> {
    return runIds.length === 0 ? [] : this.#perform({ type: 'extendLeases', owner, runIds, until })
  }

  prune(pruning: Pruning): Promise<number> {
    return this.#perform({ type: 'prune', pruning })
  }

  async prunedUpTo(): Promise<Record<string, number>> {
    return Object.fromEntries(await this.#rows(`SELECT what, up_to FROM prune_marks WHERE what NOT LIKE 'runs.%'`))
  }

  dropClaims(claims: ClaimsOfWorkflow): Promise<number> {
    return this.#perform({ type: 'dropClaims', claims })
  }

  countEnds(ends: EndsToCount): Promise<number> {
    return this.#perform({ type: 'countEnds', ends })
  }

  async releaseOthers(owner: string, now: number): Promise<void> {
    await this.#perform({ type: 'releaseOthers', owner, now })
  }

  async loadRun(runId: string): Promise<LoadedRun | undefined> {
    const [[run], steps, [logged]] = (await this.#database.read(loadQueries(runId))) as [Row[], Row[], Row[]]
    return run && loadedRun(run, steps, logged?.[0] as number)
  }

  async flowRow(id: string): Promise<FlowRow | undefined> {
    const [row] = await this.#rows(`SELECT ${FLOW_ROWS.select} FROM flow_rows WHERE id = ?`, [id])
    return row && FLOW_ROWS.fromRow(row)
  }

  async budgets(ids: readonly string[]): Promise<BudgetLine[]> {
    if (ids.length === 0) return []
    const sql = `SELECT ${BUDGETS.select} FROM budgets WHERE id IN (${ids.map(() => '?').join(', ')}) ORDER BY name`
    return (await this.#rows(sql, [...ids])).map(BUDGETS.fromRow)
  }

  async waitingForBudget({ budgetId, after, limit }: { budgetId: string; after: string; limit: number }) {
    const sql = 'SELECT id FROM runs WHERE waits_for_budget = ? AND id > ? ORDER BY id LIMIT ?'
    return (await this.#rows(sql, [budgetId, after, limit])).map(([id]) => id as string)
  }

  async dedupeClaim({ namespace, app, dedupeId, now }: DedupeKey): Promise<{ eventId?: string } | undefined> {
    const sql = 'SELECT event_id FROM dedupes WHERE namespace = ? AND app = ? AND dedupe_id = ? AND expires_at > ?'
    const [row] = await this.#rows(sql, [namespace, app, dedupeId, now])
    return row && (typeof row[0] === 'string' ? { eventId: row[0] } : {})
  }

  async liveRuns({ type, namespace, app, workflow, key }: LiveKey): Promise<string[]> {
    const rows = await this.#rows(checkSql(LIVE_RUNS[type]), [namespace, workflow, app, key])
    return rows.map(([id]) => id as string)
  }

  async watchers(query: WatchersQuery) {
    const lists = query.listsMax === undefined ? [] : [watchListsQuery(query)]
    const [rows = [], found = []] = await this.#database.read([watchersQuery(query), ...lists])
    return { watchers: rows.map(watcherFromRow), lists: found.map(pathsFromRow) }
  }

  async waiters(query: WaitsQuery) {
    const lists = query.listsMax === undefined ? [] : [waitListsQuery(query)]
    const [rows = [], found = []] = await this.#database.read([waitersQuery(query), ...lists])
    return { waiters: rows.map(waiterFromRow), lists: found.map(pathsFromRow) }
  }

  async eventsSince(query: EventsSince): Promise<SincePositioned[]> {
    const { sql, params } = eventsSinceQuery(query)
    const rows = await this.#rows(sql, params)
    return rows.map(row => (row.at(-1) === null ? positionedEvent(row) : { ...positionedEvent(row), isHidden: true }))
  }

  async inbox(id: string, without: ReadonlySet<string>): Promise<Omit<InboxRead, 'given'>> {
    const [newestRow] = await this.#rows('SELECT max(position) FROM delivered_events WHERE inbox = ?', [id])
    const newest = (newestRow?.[0] as number | null) ?? 0
    for (let after = 0; ; ) {
      // Nearly always, the events that the run was given come first.
      const { sql, params } = inboxQuery(id, after, INBOX_PAGE)
      const rows = await this.#rows(sql, params)
      const first = rows.find(([eventId]) => !without.has(eventId as string))
      if (first) return { first: deliveredEvent(first), newest }
      if (rows.length < INBOX_PAGE) return { newest }
      after = rows.at(-1)?.at(-1) as number
    }
  }

  async catalog(): Promise<Configured> {
    const tables = [APPS, STEP_LIMITS, RUNNERS, WORKFLOWS, KEPT_PAUSES, ENDPOINTS, RECEIVERS]
    const queries = tables.map(({ name, select }) => ({ sql: `SELECT ${select} FROM ${name}`, params: [] }))
    const answers = await this.#database.read(queries)
    const all = <T>(table: Table<T>) =>
      (answers[tables.findIndex(each => each.name === table.name)] as Row[]).map(table.fromRow)
    return {
      apps: all(APPS),
      stepLimits: all(STEP_LIMITS),
      runners: all(RUNNERS),
      workflows: all(WORKFLOWS),
      keptPauses: all(KEPT_PAUSES),
      endpoints: all(ENDPOINTS),
      receivers: all(RECEIVERS),
    }
  }

  async catalogRevision(): Promise<number> {
    const [row] = await this.#rows('SELECT revision FROM catalog_revision')
    return row?.[0] as number
  }

  async clusterName(): Promise<string> {
    const [row] = await this.#rows('SELECT name FROM cluster')
    return row?.[0] as string
  }

  async tokenKey(): Promise<string> {
    const [row] = await this.#rows('SELECT secret FROM token_key')
    return row?.[0] as string
  }

  async areSecretsSealed(): Promise<boolean> {
    const [row] = await this.#rows('SELECT sealed FROM sealing')
    return row?.[0] === 1
  }

  async receiversAccepted(posts: readonly { id: string; at: number }[]): Promise<void> {
    const unit: UnitRequest = [0]
    for (const { id, at } of posts) appendOperation(unit, 'receiver.accepted', at, id, at)
    await this.#database.writer.submit(unit, { refusable: true })
  }

  async lastAcceptedAt(namespace: string, receiverIds: readonly string[]): Promise<Map<string, number>> {
    if (receiverIds.length === 0) return new Map()
    const { sql, params } = lastAcceptedQuery(namespace, receiverIds)
    return new Map((await this.#rows(sql, params)) as [string, number][])
  }

  in(namespace: string): Reads {
    return new SqlReads(queries => this.#database.read(queries), namespace, this.#scans)
  }

  async ping(): Promise<void> {
    await this.#perform({ type: 'probe' })
    await this.#rows('SELECT 1')
  }

  close(): Promise<void> {
    return this.#database.close()
  }

  /** Performs the engine's own work, which is never refused. */
  #perform<T>(task: Task): Promise<T> {
    return this.#database.writer.submit<T>(task, { refusable: false })
  }

  async #rows(sql: string, params: Value[] = []): Promise<Row[]> {
    const [rows] = await this.#database.read([{ sql, params }])
    return rows as Row[]
  }
}
