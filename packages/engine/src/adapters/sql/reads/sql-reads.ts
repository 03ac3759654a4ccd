// The reads of one namespace. Whatever is asked for by id is looked up under the namespace too: a row of another one
// does not exist here.

import type { RunStatusFrame } from '../../../domain/model/change.ts'
import type { ControlAction } from '../../../domain/model/control-action.ts'
import type { Delivery, DeliveryAttempt } from '../../../domain/model/delivery.ts'
import type { Event } from '../../../domain/model/event.ts'
import type { FlowRow } from '../../../domain/model/flow-row.ts'
import type { LogLine } from '../../../domain/model/log-line.ts'
import type { Run } from '../../../domain/model/run.ts'
import type { Step } from '../../../domain/model/step.ts'
import type {
  ControlQuery,
  DeliveryPage,
  DeliveryQuery,
  EndpointStats,
  EventQuery,
  HeldRun,
  PositionedEvent,
  Reads,
  ReplayableRuns,
  ReplayFilter,
  RunCounts,
  RunQuery,
  RunStatsQuery,
  RunView,
  TimelinePage,
} from '../../../ports/store.ts'
import type { SqlDriver } from '../store/driver.ts'
import { attemptFromRow, deliveryFromRow } from '../tables/deliveries.ts'
import { eventFromRow } from '../tables/events.ts'
import { FLOW_COLUMNS, flowFromRow } from '../tables/flow-rows.ts'
import { logFromRow } from '../tables/logs.ts'
import type { Query, Row } from '../tables/operations.ts'
import { controlFromRow } from '../tables/registry.ts'
import { stepFromRow } from '../tables/steps.ts'
import { controlActionsQuery, replayableQueries } from './control-queries.ts'
import { deliveryPage } from './delivery-page.ts'
import { deliveryQueries, endpointStatsFromRow, endpointStatsQuery } from './delivery-queries.ts'
import { eventQuery, eventsQuery } from './event-queries.ts'
import { RunListing } from './run-list-queries.ts'
import {
  firstInStartQueueQuery,
  heldBeforeQuery,
  logsQuery,
  runQuery,
  runView,
  stepsQuery,
} from './run-queries.ts'
import { countQueries, runCounts } from './run-stats-query.ts'
import type { Turns } from './serial-queue.ts'
import { statusFrame, statusQueries, timelinePage, timelineQueries } from './timeline.ts'

export class SqlReads implements Reads {
  readonly #driver: SqlDriver
  readonly #namespace: string
  readonly #searches: Turns

  /** `searches` is the store's own, shared by all of its reads. */
  constructor(driver: SqlDriver, namespace: string, searches: Turns) {
    this.#driver = driver
    this.#namespace = namespace
    this.#searches = searches
  }

  async run(id: string): Promise<RunView | undefined> {
    const [row] = await this.#rows(runQuery(this.#namespace, id))
    return row && runView(row)
  }

  async status(runId: string): Promise<RunStatusFrame | undefined> {
    return statusFrame(await this.#driver.read(statusQueries(this.#namespace, runId)))
  }

  async runs(query: RunQuery, signal?: AbortSignal): Promise<RunView[]> {
    const listing = new RunListing(this.#namespace, query)
    const found: RunView[] = []
    const isDone = async () => {
      signal?.throwIfAborted()
      const missing = query.limit - found.length
      const [rows, stop] = (await this.#driver.read(listing.queries(missing))) as [Row[], Row[] | undefined]
      found.push(...rows.map(runView))
      return rows.length === missing || !listing.goOn(stop?.[0])
    }
    // Most pages are one read. Those that must go on do so one after the other, whoever asks.
    if (await isDone()) return found
    while (!(await this.#searches.take(isDone)));
    return found
  }

  async stats(query: RunStatsQuery): Promise<RunCounts> {
    return runCounts(await this.#driver.read(countQueries(this.#namespace, query)))
  }

  async heldBefore(run: HeldRun): Promise<number> {
    const [[row]] = (await this.#driver.read([heldBeforeQuery(run)])) as [Row[]]
    return row?.[0] as number
  }

  async firstInStartQueue(throttleId: string): Promise<Pick<Run, 'id' | 'priority'> | undefined> {
    const [row] = (await this.#rows(firstInStartQueueQuery(throttleId))) as [
      id: string,
      priority: number | null,
    ][]
    return row && { id: row[0], ...(row[1] === null ? {} : { priority: row[1] }) }
  }

  async steps(runId: string): Promise<Step[]> {
    return (await this.#rows(stepsQuery(this.#namespace, runId))).map(stepFromRow)
  }

  async logs(runId: string, query: { from: number; limit: number }): Promise<LogLine[]> {
    return (await this.#rows(logsQuery(this.#namespace, runId, query))).map(logFromRow)
  }

  async timeline(
    runId: string,
    position: { after: number; limit: number; openFrom: number },
  ): Promise<TimelinePage> {
    const query = { ...position, runId, namespace: this.#namespace }
    return timelinePage(query, await this.#driver.read(timelineQueries(query)))
  }

  async event(id: string): Promise<Event | undefined> {
    const [row] = await this.#rows(eventQuery(this.#namespace, id))
    return row && eventFromRow(row).event
  }

  async events(query: EventQuery): Promise<PositionedEvent[]> {
    return (await this.#rows(eventsQuery(this.#namespace, query))).map(eventFromRow)
  }

  async delivery(id: string): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] } | undefined> {
    const [[row], attempts] = (await this.#driver.read(deliveryQueries(this.#namespace, id))) as [
      Row[],
      Row[],
    ]
    return row && { delivery: deliveryFromRow(row), attempts: attempts.map(attemptFromRow) }
  }

  deliveries(query: DeliveryQuery): Promise<DeliveryPage> {
    return deliveryPage(query => this.#rows(query), this.#namespace, query)
  }

  async endpointStats(since: number): Promise<EndpointStats[]> {
    return (await this.#rows(endpointStatsQuery(this.#namespace, since))).map(endpointStatsFromRow)
  }

  async schedules(): Promise<FlowRow[]> {
    const sql = `SELECT ${FLOW_COLUMNS.join(', ')} FROM flow_rows
      WHERE namespace = ? AND policy = 'cron' ORDER BY app, workflow, key`
    return (await this.#rows({ sql, params: [this.#namespace] })).map(flowFromRow)
  }

  async replayable(filter: ReplayFilter, limit: number): Promise<ReplayableRuns> {
    const queries = replayableQueries(this.#namespace, filter, limit)
    const [[counts], ids] = (await this.#driver.read(queries)) as [Row[], Row[]]
    const [matched, finished] = counts as [number, number]
    return { matched, finished, runIds: ids.map(([id]) => id as string) }
  }

  async controlActions(query: ControlQuery): Promise<ControlAction[]> {
    return (await this.#rows(controlActionsQuery(this.#namespace, query))).map(controlFromRow)
  }

  async #rows(query: Query): Promise<Row[]> {
    const [rows] = await this.#driver.read([query])
    return rows as Row[]
  }
}
