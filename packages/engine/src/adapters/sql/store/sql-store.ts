// The Store port on any SQL database: maps what services say to operations, checks and queries for a driver, and rows
// back. One class for every dialect; the drivers live in folders beside it.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Unit } from '../../../domain/model/change.ts'
import { invariant, StaleError } from '../../../domain/model/errors.ts'
import type { DedupeKey, Waiter, Watcher } from '../../../domain/model/event.ts'
import type { FlowRow } from '../../../domain/model/flow-row.ts'
import type { Admin } from '../../../ports/admin.ts'
import type {
  Claim,
  ClaimedDelivery,
  Configured,
  DeliveryClaim,
  Lane,
  LoadedRun,
  PositionedEvent,
  Pruning,
  Reads,
  Store,
  StoreStats,
} from '../../../ports/store.ts'
import type { BatchQueue } from '../batches/batch-queue.ts'
import { LANE_TABLES } from '../claims/lanes.ts'
import { type EventsSince, eventsSinceQuery, waiterFromRow, waitersQuery } from '../reads/event-queries.ts'
import { LIVE_RUNS, type WatchersQuery, watcherFromRow, watchersQuery } from '../reads/live-queries.ts'
import { loadedRun, loadQueries } from '../reads/run-queries.ts'
import { Turns } from '../reads/serial-queue.ts'
import { SqlReads } from '../reads/sql-reads.ts'
import { claimedDeliveryFromRow } from '../tables/deliveries.ts'
import { eventFromRow } from '../tables/events.ts'
import { FLOW_COLUMNS, flowFromRow } from '../tables/flow-rows.ts'
import type { Row, Value } from '../tables/operations.ts'
import {
  APP_COLUMNS,
  appFromRow,
  RUNNER_COLUMNS,
  runnerFromRow,
  WORKFLOW_COLUMNS,
  workflowFromRow,
} from '../tables/registry.ts'
import { ENDPOINT_COLUMNS, endpointFromRow, RECEIVER_COLUMNS, receiverFromRow } from '../tables/webhooks.ts'
import { Crowds } from '../write/broadcast-fairness.ts'
import { changeOps } from '../write/change-ops.ts'
import { guardChecks } from '../write/guard-checks.ts'
import type { SqlDriver } from './driver.ts'
import { SqlAdmin } from './sql-admin.ts'

/** Changes of a unit from which on the event loop goes on while it is made ready, and so does all else. */
const LONG_UNIT = 1000

export class SqlStore implements Store {
  readonly #driver: SqlDriver
  readonly #searches = new Turns()
  readonly #crowds = new Crowds()
  readonly #writer: BatchQueue
  #commits = 0
  readonly #stale: StoreStats['stale'] = {}
  readonly admin: Admin

  /** `writer` is the queue that the driver writes through. */
  constructor(driver: SqlDriver, writer: BatchQueue) {
    this.#driver = driver
    this.#writer = writer
    this.admin = new SqlAdmin(driver)
  }

  stats(): StoreStats {
    const { stats, sizes, pending } = this.#writer
    return {
      ...stats,
      commits: this.#commits,
      stale: { ...this.#stale },
      pending,
      batchSizes: sizes,
    }
  }

  async commit(unit: Unit): Promise<void> {
    const { guards, changes } = unit
    if (this.#crowds.any) await this.#crowds.giveWay(unit)
    const checks = guardChecks(guards)
    if (changes.length > LONG_UNIT) await nextTurn()
    const ops = changeOps(changes)
    if (changes.length > LONG_UNIT) await nextTurn()
    const failed = await this.#driver.commit({ checks, ops })
    if (failed === undefined) {
      this.#commits++
      this.#crowds.settled(unit, 'done')
      return
    }
    const guard = guards[failed]
    invariant(guard, `the driver names a check that was not asked: ${failed}`)
    this.#stale[guard.type] = (this.#stale[guard.type] ?? 0) + 1
    if (guard.type === 'waiters') this.#crowds.settled(unit, 'lost')
    throw new StaleError(guard)
  }

  async claimRuns(claim: Claim): Promise<LoadedRun[]> {
    const claimed = await this.#driver.claimRuns(claim)
    return claimed.map(({ run, steps, rootLogged }) => loadedRun(run, steps, rootLogged))
  }

  async claimDeliveries(claim: DeliveryClaim): Promise<ClaimedDelivery[]> {
    return (await this.#driver.claimDeliveries(claim)).map(claimedDeliveryFromRow)
  }

  async claimTimers(claim: Claim): Promise<FlowRow[]> {
    return (await this.#driver.claimTimers(claim)).map(flowFromRow)
  }

  async nextAvailableAt(lane: Lane, after = -1): Promise<number | undefined> {
    const { table, parts } = LANE_TABLES[lane]
    const earliest = parts.map(
      part => `SELECT min(available_at) AS at FROM ${table} WHERE ${part} AND available_at > ?`,
    )
    const sql = `SELECT min(at) FROM (${earliest.join(' UNION ALL ')}) AS earliest`
    const [rows] = await this.#driver.read([{ sql, params: parts.map(() => after) }])
    return (rows?.[0]?.[0] as number | null) ?? undefined
  }

  extendRuns(owner: string, runIds: readonly string[], until: number): Promise<string[]> {
    return this.#driver.extendRuns(owner, runIds, until)
  }

  prune(pruning: Pruning): Promise<number> {
    return this.#driver.prune(pruning)
  }

  releaseOthers(owner: string, now: number): Promise<void> {
    return this.#driver.releaseOthers(owner, now)
  }

  async loadRun(runId: string): Promise<LoadedRun | undefined> {
    const [[run], steps, [logged]] = (await this.#driver.read(loadQueries(runId))) as [Row[], Row[], Row[]]
    return run && loadedRun(run, steps, logged?.[0] as number)
  }

  async flowRow(id: string): Promise<FlowRow | undefined> {
    const sql = `SELECT ${FLOW_COLUMNS.join(', ')} FROM flow_rows WHERE id = ?`
    const [[row]] = (await this.#driver.read([{ sql, params: [id] }])) as [Row[]]
    return row && flowFromRow(row)
  }

  async isDeduped({ namespace, app, dedupeId, now }: DedupeKey): Promise<boolean> {
    const sql = 'SELECT 1 FROM dedupes WHERE namespace = ? AND app = ? AND dedupe_id = ? AND expires_at > ?'
    const [rows] = (await this.#driver.read([{ sql, params: [namespace, app, dedupeId, now] }])) as [Row[]]
    return rows.length > 0
  }

  async liveRuns(of: { namespace: string; app: string; workflow: string; key: string }): Promise<string[]> {
    const { namespace, app, workflow, key } = of
    const query = { sql: LIVE_RUNS, params: [namespace, workflow, app, key] }
    const [rows] = (await this.#driver.read([query])) as [Row[]]
    return rows.map(([id]) => id as string)
  }

  async watchers(query: WatchersQuery): Promise<{ position: number; watcher: Watcher }[]> {
    const [rows] = (await this.#driver.read([watchersQuery(query)])) as [Row[]]
    return rows.map(watcherFromRow)
  }

  async waiters(namespace: string, eventName: string): Promise<Waiter[]> {
    const [rows] = (await this.#driver.read([waitersQuery(namespace, eventName)])) as [Row[]]
    return rows.map(waiterFromRow)
  }

  async eventsSince(query: EventsSince): Promise<PositionedEvent[]> {
    const [rows] = (await this.#driver.read([eventsSinceQuery(query)])) as [Row[]]
    return rows.map(eventFromRow)
  }

  async catalog(): Promise<Configured> {
    const all = (table: string, columns: readonly string[]) => ({
      sql: `SELECT ${columns.join(', ')} FROM ${table}`,
      params: [],
    })
    const [apps, runners, workflows, endpoints, receivers] = (await this.#driver.read([
      all('apps', APP_COLUMNS),
      all('runners', RUNNER_COLUMNS),
      all('workflows', WORKFLOW_COLUMNS),
      all('webhook_endpoints', ENDPOINT_COLUMNS),
      all('webhook_receivers', RECEIVER_COLUMNS),
    ])) as [Row[], Row[], Row[], Row[], Row[]]
    return {
      apps: apps.map(appFromRow),
      runners: runners.map(runnerFromRow),
      workflows: workflows.map(workflowFromRow),
      endpoints: endpoints.map(endpointFromRow),
      receivers: receivers.map(receiverFromRow),
    }
  }

  async catalogRevision(): Promise<number> {
    return (await this.#value('SELECT revision FROM catalog_revision')) as number
  }

  async clusterName(): Promise<string> {
    return (await this.#value('SELECT name FROM cluster')) as string
  }

  in(namespace: string): Reads {
    return new SqlReads(this.#driver, namespace, this.#searches)
  }

  async ping(): Promise<void> {
    await this.#driver.probe()
    await this.#driver.read([{ sql: 'SELECT 1', params: [] }])
  }

  close(): Promise<void> {
    return this.#driver.close()
  }

  async #value(sql: string): Promise<Value> {
    const [[row]] = (await this.#driver.read([{ sql, params: [] }])) as [Row[]]
    return (row as Row)[0] as Value
  }
}
