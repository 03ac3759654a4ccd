// The Store port on any SQL database: maps what services say to operations, checks and queries for a driver, and rows
// back. One class for every dialect; the drivers live in folders beside it.

import type { Unit } from '../../domain/change.ts'
import type { Delivery } from '../../domain/delivery.ts'
import { invariant, StaleError } from '../../domain/errors.ts'
import type { Waiter } from '../../domain/event.ts'
import type { App, Runner, Workflow } from '../../domain/workflow.ts'
import type { Claim, Lane, LoadedRun, PositionedEvent, Reads, Store } from '../../ports/store.ts'
import { changeOps } from './change-ops.ts'
import type { SqlDriver } from './driver.ts'
import { type EventsSince, eventsSinceQuery, waiterFromRow, waitersQuery } from './event-queries.ts'
import { guardChecks } from './guard-checks.ts'
import type { Row } from './operations.ts'
import { SqlReads } from './reads.ts'
import { deliveryFromRow } from './rows/delivery-row.ts'
import { eventFromRow } from './rows/event-row.ts'
import {
  APP_COLUMNS,
  appFromRow,
  RUNNER_COLUMNS,
  runnerFromRow,
  WORKFLOW_COLUMNS,
  workflowFromRow,
} from './rows/registry-row.ts'
import { loadedRun, loadQueries } from './run-queries.ts'

export class SqlStore implements Store {
  readonly #driver: SqlDriver

  constructor(driver: SqlDriver) {
    this.#driver = driver
  }

  async commit(unit: Unit): Promise<void> {
    const { guards, changes } = unit
    const failed = await this.#driver.commit({ checks: guardChecks(guards), ops: changeOps(changes) })
    if (failed === undefined) return
    const guard = guards[failed]
    invariant(guard, `the driver names a check that was not asked: ${failed}`)
    throw new StaleError(guard)
  }

  async claimRuns(claim: Claim): Promise<LoadedRun[]> {
    const claimed = await this.#driver.claimRuns(claim)
    return claimed.map(({ run, steps, rootLogged }) => loadedRun(run, steps, rootLogged))
  }

  async claimDeliveries(claim: Claim): Promise<Delivery[]> {
    return (await this.#driver.claimDeliveries(claim)).map(deliveryFromRow)
  }

  async nextAvailableAt(lane: Lane): Promise<number | undefined> {
    const sql = `SELECT min(available_at) FROM ${lane} WHERE available_at IS NOT NULL`
    const [[row]] = (await this.#driver.read([{ sql, params: [] }])) as [Row[]]
    return (row?.[0] as number | null) ?? undefined
  }

  extendRuns(leases: { runId: string; fence: number }[], until: number): Promise<string[]> {
    return this.#driver.extendRuns(leases, until)
  }

  releaseOthers(owner: string, now: number): Promise<void> {
    return this.#driver.releaseOthers(owner, now)
  }

  async loadRun(runId: string): Promise<LoadedRun | undefined> {
    const [[run], steps, [logged]] = (await this.#driver.read(loadQueries(runId))) as [Row[], Row[], Row[]]
    return run && loadedRun(run, steps, logged?.[0] as number)
  }

  async waiters(namespace: string, eventName: string): Promise<Waiter[]> {
    const [rows] = (await this.#driver.read([waitersQuery(namespace, eventName)])) as [Row[]]
    return rows.map(waiterFromRow)
  }

  async eventsSince(query: EventsSince): Promise<PositionedEvent[]> {
    const [rows] = (await this.#driver.read([eventsSinceQuery(query)])) as [Row[]]
    return rows.map(eventFromRow)
  }

  async catalog(): Promise<{ apps: App[]; runners: Runner[]; workflows: Workflow[] }> {
    const all = (table: string, columns: readonly string[]) => ({
      sql: `SELECT ${columns.join(', ')} FROM ${table}`,
      params: [],
    })
    const [apps, runners, workflows] = (await this.#driver.read([
      all('apps', APP_COLUMNS),
      all('runners', RUNNER_COLUMNS),
      all('workflows', WORKFLOW_COLUMNS),
    ])) as [Row[], Row[], Row[]]
    return {
      apps: apps.map(appFromRow),
      runners: runners.map(runnerFromRow),
      workflows: workflows.map(workflowFromRow),
    }
  }

  in(namespace: string): Reads {
    return new SqlReads(this.#driver, namespace)
  }

  async ping(): Promise<void> {
    await this.#driver.probe()
    await this.#driver.read([{ sql: 'SELECT 1', params: [] }])
  }

  close(): Promise<void> {
    return this.#driver.close()
  }
}
