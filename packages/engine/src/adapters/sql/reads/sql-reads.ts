// The reads of one namespace. Every lookup by id also names the namespace: a row of another namespace does not exist here.

import { STEPS_MAX } from '@perdure/protocol'
import type { BulkResult } from '../../../domain/model/bulk.ts'
import type { Delivery, DeliveryAttempt } from '../../../domain/model/delivery.ts'
import type { Run, RunFilter } from '../../../domain/model/run.ts'
import type { Step } from '../../../domain/model/step.ts'
import type { RunTally } from '../../../domain/view/run-tally.ts'
import type { AttemptFrame } from '../../../domain/view/step-attempts.ts'
import type { EmittedEvent, RelatedRun } from '../../../domain/view/tree.ts'
import type {
  BufferRun,
  BulkResultsQuery,
  EventQuery,
  PartOfRuns,
  PassReports,
  PositionedEvent,
  Reads,
  ReplayableRuns,
  RunCounts,
  RunQuery,
  RunStatsQuery,
  RunStatusNow,
  RunView,
  StepQuery,
} from '../../../ports/store-reads.ts'
import type { RunSeriesQuery } from '../../../ports/store-statistics.ts'
import type { Query, Row } from '../description/values.ts'
import { endpointSeries, endpointSeriesQuery } from '../rollups/endpoint-series.ts'
import { MARKS_QUERY, marksBefore } from '../rollups/ends.ts'
import { withoutRunnerQuery } from '../rollups/live-queries.ts'
import {
  failedRunsQuery,
  lastFailure,
  lastFailuresQuery,
  stepDurations,
  stepDurationsQuery,
} from '../rollups/newest-queries.ts'
import { runSeries, seriesQueries } from '../rollups/series-queries.ts'
import { runTotals, totalsQueries } from '../rollups/totals-queries.ts'
import { BULK_RESULTS } from '../tables/bulk-results.ts'
import { CONTROL_ACTIONS } from '../tables/control-actions.ts'
import { ATTEMPTS, DELIVERIES } from '../tables/deliveries.ts'
import { DOCUMENTS } from '../tables/document/documents.ts'
import { EVENTS } from '../tables/events.ts'
import { FLOW_ROWS } from '../tables/flow-rows.ts'
import { LOGS } from '../tables/logs.ts'
import { STEPS } from '../tables/steps.ts'
import {
  bulkCounts,
  bulkCountsQuery,
  bulkJobsQuery,
  bulkResultsQuery,
  controlActionsQuery,
  replayableQueries,
  schedulesQuery,
} from './control-queries.ts'
import { definitionPage } from './definition-page.ts'
import { deliveryPage } from './delivery-page.ts'
import {
  deliveriesQuery,
  deliveryCounts,
  deliveryCountsQueries,
  deliveryQueries,
  endpointStatsFromRow,
  endpointStatsQuery,
} from './delivery-queries.ts'
import { documentQuery, documentsQuery } from './document-queries.ts'
import { errorGroupsOf, hasFailedQuery } from './error-group-queries.ts'
import { eventNamesPage, eventPage, redrivablePage } from './event-page.ts'
import { bufferRunsQuery, eventQuery, signalCountQuery, waitingSignalsQuery } from './event-queries.ts'
import { groupQueries, limitQueries, limitRows, singletonOf, singletonsQuery } from './runs/limit-queries.ts'
import { searchOf } from './runs/page.ts'
import { HeldBeforeEach, heldBeforeQuery, isAheadQuery } from './runs/queue-queries.ts'
import {
  erasedQuery,
  holdersQuery,
  logsQuery,
  newestOfChainQuery,
  runQuery,
  runView,
  storedIds,
  storedIdsQuery,
} from './runs/run-queries.ts'
import { countQueries, runCounts } from './runs/run-stats-query.ts'
import { statusCounts } from './runs/status-counts.ts'
import { turnPoolOf, turnPoolsQuery } from './runs/turn-queries.ts'
import { workflowNamesQuery } from './runs/walks.ts'
import type { ScanQueue } from './scan/scan-queue.ts'
import { bufferPage, eventSchedulePage, scheduledPage, sortedSchedules } from './scheduled-page.ts'
import { attemptFrame, passesOf, stepQueries, stepSliceQueries } from './step-queries.ts'
import { progressOf, progressQueries, statusFrame, statusQueries, timelinePage, timelineQueries } from './timeline.ts'
import {
  cleanups,
  cleanupsQuery,
  emittedEvent,
  emittedEventsQuery,
  relatedRun,
  relatedRunQueries,
  runOfTree,
  runOfTreeQuery,
  type TreeLevel,
} from './tree-queries.ts'

/** The rows of each query, all seen at one moment, after every commit that has resolved. */
export type ReadRows = (queries: Query[]) => Promise<Row[][]>

/** Bytes of step payloads in one read: more would delay the reads of others. */
const STEPS_READ_BYTES_MAX = 2 * 1024 * 1024

/** Number of reads of a list before it waits for its turn among the scans. */
const SMALL_READS_MAX = 4

export class SqlReads implements Reads {
  readonly #read: ReadRows
  readonly #namespace: string
  readonly #scans: ScanQueue

  /** `scans` is the store's own, shared by all of its reads. */
  constructor(read: ReadRows, namespace: string, scans: ScanQueue) {
    this.#read = read
    this.#namespace = namespace
    this.#scans = scans
  }

  async run(id: string): Promise<RunView | undefined> {
    const [row] = await this.#rows(runQuery(this.#namespace, id))
    return row && runView(row)
  }

  cleanups = async (runId: string) => cleanups(await this.#rows(cleanupsQuery(this.#namespace, runId)))
  newestOfChain = async (id: string) => (await this.#rows(newestOfChainQuery(this.#namespace, id))).map(runView)[0]

  async storedIds(ids: readonly string[]): Promise<string[]> {
    return ids.length === 0 ? [] : storedIds(ids, await this.#rows(storedIdsQuery(this.#namespace, ids)))
  }

  async isErased(runId: string): Promise<boolean> {
    return (await this.#rows(erasedQuery(this.#namespace, runId))).length > 0
  }

  async status(runId: string): Promise<RunStatusNow | undefined> {
    return statusFrame(await this.#read(statusQueries(this.#namespace, runId)))
  }

  progress = async (runId: string) => progressOf(runId, await this.#read(progressQueries(this.#namespace, runId)))

  async runs(query: RunQuery, signal?: AbortSignal): Promise<RunView[]> {
    return (await this.#listed(query, { signal })).runs
  }

  partOfRuns(query: RunQuery, bounds: { signal?: AbortSignal; enough: AbortSignal }): Promise<PartOfRuns> {
    return this.#listed(query, bounds)
  }

  async #listed(
    query: RunQuery,
    { signal, enough }: { signal?: AbortSignal | undefined; enough?: AbortSignal },
  ): Promise<PartOfRuns> {
    const search = searchOf(this.#namespace, query)
    // Most pages without `q` are one small read, or a few.
    for (let reads = 0; query.q === undefined && reads < SMALL_READS_MAX; reads++) {
      if (await search.isDone(this.#read)) return { runs: [...search.runs] }
    }
    return this.#scan(signal, async read => {
      while (!(await search.isDone(read))) {
        if (enough?.aborted) return { runs: [...search.runs], lookedTo: search.lookedTo }
      }
      return { runs: [...search.runs] }
    })
  }

  stats(query: RunStatsQuery, signal?: AbortSignal): Promise<RunCounts> {
    return this.#scan(signal, async read => runCounts(await read(countQueries(this.#namespace, query))))
  }

  errorGroups: Reads['errorGroups'] = (query, signal) =>
    this.#scanRows(signal, rows => errorGroupsOf(rows, this.#namespace, query))

  hasFailed = async (fingerprint: string) => (await this.#rows(hasFailedQuery(this.#namespace, fingerprint))).length > 0

  runSeries(query: RunSeriesQuery, signal?: AbortSignal): Promise<Map<number, RunTally>> {
    return this.#scan(signal, async read => {
      const [marks = []] = await read([MARKS_QUERY])
      return runSeries(query, await read(seriesQueries(this.#namespace, query, marksBefore(marks))))
    })
  }

  runTotals: Reads['runTotals'] = (query, signal) =>
    this.#scan(signal, async read => {
      const [marks = []] = await read([MARKS_QUERY])
      return runTotals(query, await read(totalsQueries(this.#namespace, query, marksBefore(marks))))
    })

  async runsWithoutRunner(): Promise<{ app: string; runs: number }[]> {
    const rows = await this.#rows(withoutRunnerQuery(this.#namespace))
    return (rows as [string, number][]).map(([app, runs]) => ({ app, runs }))
  }

  lastFailures: Reads['lastFailures'] = (query, signal) =>
    this.#scanRows(signal, async rows => {
      const last = await rows(lastFailuresQuery(this.#namespace, query))
      return last.length === 0 ? [] : (await rows(failedRunsQuery(last))).map(lastFailure)
    })

  stepDurations: Reads['stepDurations'] = (scope, signal) =>
    this.#scanRows(signal, async rows => stepDurations(await rows(stepDurationsQuery(this.#namespace, scope))))

  limits: Reads['limits'] = (query, signal) =>
    this.#scan(signal, async read => {
      const rows = await read(limitQueries(this.#namespace, query))
      const queries = groupQueries(rows)
      return limitRows(this.#namespace, rows, queries.length === 0 ? [] : await read(queries))
    })

  singletons: Reads['singletons'] = (query, signal) =>
    this.#scanRows(signal, async rows => (await rows(singletonsQuery(this.#namespace, query))).map(singletonOf))

  turnPools: Reads['turnPools'] = async query =>
    (await this.#rows(turnPoolsQuery(this.#namespace, query))).map(turnPoolOf)

  workflowNames: Reads['workflowNames'] = async ({ prefix, limit }) =>
    (await this.#rows(workflowNamesQuery(this.#namespace, prefix, limit))).map(([name]) => name as string)

  heldBefore: Reads['heldBefore'] = async run => (await this.#rows(heldBeforeQuery(run)))[0]?.[0] as number

  heldBeforeEach: Reads['heldBeforeEach'] = async (runs, signal) => {
    const each = new HeldBeforeEach(runs)
    // For most pages, one read covers the queues.
    if (await each.isDone(this.#read)) return each.places
    return this.#scan(signal, async read => {
      while (!(await each.isDone(read)));
      return each.places
    })
  }

  async isBehindStartQueue(throttleId: string, run: Pick<Run, 'id' | 'holds'>): Promise<boolean> {
    return (await this.#rows(isAheadQuery(throttleId, run))).length > 0
  }

  /** Reads the steps of nearly every run in one read, and the steps of a run with large results in slices of a scan. */
  async steps(runId: string, query: StepQuery = {}, signal?: AbortSignal): Promise<Step[]> {
    const steps: Step[] = []
    const { after = -1, limit = STEPS_MAX } = query
    const isDone = async (read: ReadRows) => {
      const from = (steps.at(-1)?.index ?? after) + 1
      const slice = { from, bytesMax: STEPS_READ_BYTES_MAX, limit: limit - steps.length }
      const queries = stepSliceQueries(this.#namespace, runId, query, slice)
      const [rows, last] = (await read(queries)) as [Row[], [[index: number | null]]]
      steps.push(...rows.map(STEPS.fromRow))
      return rows.length === 0 || steps.length >= limit || steps.at(-1)?.index === last[0][0]
    }
    if (await isDone(this.#read)) return steps
    return this.#scan(signal, async read => {
      while (!(await isDone(read)));
      return steps
    })
  }

  async step(runId: string, stepId: string): Promise<{ step: Step; frames: AttemptFrame[] } | undefined> {
    const [[row], frames] = (await this.#read(stepQueries(this.#namespace, runId, stepId))) as [Row[], Row[]]
    return row && { step: STEPS.fromRow(row), frames: frames.map(attemptFrame).reverse() }
  }

  passes(runId: string, query: { after: number; limit: number }): Promise<PassReports | undefined> {
    return passesOf(this.#read, { ...query, runId, namespace: this.#namespace })
  }

  runOfTree: Reads['runOfTree'] = async runId =>
    (await this.#rows(runOfTreeQuery(this.#namespace, runId))).map(runOfTree)[0]

  async relatives(of: TreeLevel, limit: number): Promise<{ runs: RelatedRun[]; events: EmittedEvent[] }> {
    const found = await this.#read(relatedRunQueries(this.#namespace, of, limit))
    const emitted = of.runIds.length === 0 ? [] : await this.#rows(emittedEventsQuery(of, limit))
    return { runs: found.flat().map(relatedRun), events: emitted.map(emittedEvent) }
  }

  async holdersOf(slotId: string, limit: number): Promise<string[]> {
    return (await this.#rows(holdersQuery(this.#namespace, slotId, limit))).map(([id]) => id as string)
  }

  logs: Reads['logs'] = async (runId, query) =>
    (await this.#rows(logsQuery(this.#namespace, runId, query))).map(LOGS.fromRow)

  timeline: Reads['timeline'] = async (runId, position) => {
    const query = { ...position, runId, namespace: this.#namespace }
    return timelinePage(query, await this.#read(timelineQueries(query)))
  }

  event = async (id: string) => (await this.#rows(eventQuery(this.#namespace, id))).map(EVENTS.fromRow)[0]
  waitingSignals = async (runId: string, limit: number) =>
    (await this.#rows(waitingSignalsQuery(this.#namespace, runId, limit))).map(EVENTS.fromRow)
  signalCount = async (id: string, most: number) => Number((await this.#rows(signalCountQuery(id, most)))[0]?.[0])

  runsOfBuffers: Reads['runsOfBuffers'] = async firstEventIds => {
    const rows = await this.#rows(bufferRunsQuery(this.#namespace, firstEventIds))
    return rows.map(([firstEventId, id, app, workflow]) => ({ firstEventId, id, app, workflow }) as BufferRun)
  }

  events(query: EventQuery, signal?: AbortSignal): Promise<PositionedEvent[]> {
    return this.#scanRows(signal, rows => eventPage(rows, this.#namespace, query))
  }

  redrivable: Reads['redrivable'] = (query, signal) =>
    this.#scanRows(signal, rows => redrivablePage(rows, this.#namespace, query))

  eventNames: Reads['eventNames'] = (query, signal) =>
    this.#scanRows(signal, rows => eventNamesPage(rows, this.#namespace, query))

  scheduledEvents: Reads['scheduledEvents'] = (query, signal) =>
    this.#scanRows(signal, rows => scheduledPage(rows, this.#namespace, query))

  buffers: Reads['buffers'] = (query, signal) =>
    this.#scanRows(signal, rows => bufferPage(rows, this.#namespace, query))

  eventSchedules: Reads['eventSchedules'] = (query, signal) =>
    this.#scanRows(signal, rows => eventSchedulePage(rows, this.#namespace, query))

  sortedSchedules: Reads['sortedSchedules'] = (query, signal) =>
    this.#scanRows(signal, rows => sortedSchedules(rows, this.#namespace, query))

  async delivery(id: string): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] } | undefined> {
    const [[row], attempts] = (await this.#read(deliveryQueries(this.#namespace, id))) as [Row[], Row[]]
    return row && { delivery: DELIVERIES.fromRow(row), attempts: attempts.map(ATTEMPTS.fromRow) }
  }

  deliveries: Reads['deliveries'] = (query, signal) =>
    this.#scanRows(signal, rows => deliveryPage(rows, this.#namespace, query))

  deliveryHeads: Reads['deliveryHeads'] = (query, signal) => {
    const heads = deliveriesQuery(this.#namespace, query)
    return this.#scanRows(signal, async rows => (await rows(heads)).map(DELIVERIES.fromRow))
  }

  deliveryCounts: Reads['deliveryCounts'] = (filter, signal) =>
    this.#scan(signal, async read => deliveryCounts(await read(deliveryCountsQueries(this.#namespace, filter))))

  endpointSeries: Reads['endpointSeries'] = (query, signal) => {
    const counted = endpointSeriesQuery(this.#namespace, query)
    return this.#scanRows(signal, async rows => endpointSeries(await rows(counted)))
  }

  endpointStats: Reads['endpointStats'] = (since, signal) => {
    const query = endpointStatsQuery(this.#namespace, since)
    return this.#scanRows(signal, async rows => (await rows(query)).map(endpointStatsFromRow))
  }

  schedules = async () => (await this.#rows(schedulesQuery(this.#namespace))).map(FLOW_ROWS.fromRow)

  async replayable(filter: RunFilter, limit: number, signal?: AbortSignal): Promise<ReplayableRuns> {
    const queries = replayableQueries(this.#namespace, filter, limit)
    const [[counts], ids] = (await this.#scan(signal, read => read(queries))) as [Row[], Row[]]
    const [matched, finished] = counts as [number, number]
    return { matched, finished, runIds: ids.map(([id]) => id as string) }
  }

  statusCounts(filter: RunFilter, signal?: AbortSignal): Promise<RunCounts> {
    return this.#scan(signal, read => statusCounts(read, this.#namespace, filter))
  }

  bulkJobs: Reads['bulkJobs'] = async query =>
    (await this.#rows(bulkJobsQuery(this.#namespace, query))).map(FLOW_ROWS.fromRow)

  async bulkResults(bulkId: string, query: BulkResultsQuery): Promise<BulkResult[]> {
    // Neither dialect has an empty list.
    if (query.runIds?.length === 0) return []
    return (await this.#rows(bulkResultsQuery(bulkId, query))).map(BULK_RESULTS.fromRow)
  }

  bulkCounts: Reads['bulkCounts'] = async bulkId => bulkCounts(await this.#rows(bulkCountsQuery(bulkId)))

  definitions: Reads['definitions'] = query => definitionPage(each => this.#rows(each), this.#namespace, query)

  controlActions: Reads['controlActions'] = async query =>
    (await this.#rows(controlActionsQuery(this.#namespace, query))).map(CONTROL_ACTIONS.fromRow)

  documents: Reads['documents'] = async query =>
    (await this.#rows(documentsQuery(this.#namespace, query))).map(DOCUMENTS.fromRow)
  document: Reads['document'] = async (kind, id) =>
    (await this.#rows(documentQuery(this.#namespace, kind, id))).map(DOCUMENTS.fromRow)[0]

  #scan<T>(signal: AbortSignal | undefined, work: (read: ReadRows) => Promise<T>): Promise<T> {
    return this.#scans.run({ namespace: this.#namespace, signal }, work)
  }

  /** A scan whose slices are one query each. */
  #scanRows<T>(signal: AbortSignal | undefined, work: (rows: (query: Query) => Promise<Row[]>) => Promise<T>) {
    return this.#scan(signal, read => work(async query => (await read([query]))[0] as Row[]))
  }

  async #rows(query: Query): Promise<Row[]> {
    const [rows] = await this.#read([query])
    return rows as Row[]
  }
}
