// The reading half of the Store port: the reads of one namespace, their queries and their answers. Used by the services and
// routes that list and show data.

import type { BulkCounts, BulkResult } from '../domain/model/bulk.ts'
import type { RunStatusFrame } from '../domain/model/change.ts'
import type { ControlAction, ControlKind } from '../domain/model/control-action.ts'
import type { Delivery, DeliveryAttempt, DeliveryKind, DeliveryStatus } from '../domain/model/delivery.ts'
import type { Document, DocumentKind } from '../domain/model/document/document.ts'
import type { Event } from '../domain/model/event.ts'
import type { FlowRow } from '../domain/model/flow-row.ts'
import type { LogLine } from '../domain/model/log-line.ts'
import type { Run, RunFilter, RunKind, RunProgress, RunStatus } from '../domain/model/run.ts'
import type { Step, StepStatus } from '../domain/model/step.ts'
import type { Cleanups } from '../domain/run/cleanup/begun.ts'
import type { PassFacts } from '../domain/view/passes.ts'
import type { RunPosition, RunSort, SortDir } from '../domain/view/run-order.ts'
import type { AttemptFrame } from '../domain/view/step-attempts.ts'
import type { StoredFrame } from '../domain/view/timeline-frames.ts'
import type { EmittedEvent, RelatedRun, RunOfTree } from '../domain/view/tree.ts'
import type { LimitRows, SingletonRun } from '../domain/why/limits.ts'
import type { TurnPoolNow } from '../domain/why/turn-pool.ts'
import type { DefinitionReads } from './definition-reads.ts'
import type { QueueReads } from './queue-reads.ts'
import type { RedrivableEvent, RedriveQuery } from './redrive-reads.ts'
import type { ScheduleReads } from './schedule-reads.ts'
import type { StatisticsReads } from './store-statistics.ts'

/** A run with the name of its current step (the newest unsettled one, else the newest). */
export type RunView = Run & { currentStepName?: string }

export interface RunQuery extends RunFilter {
  /** Absent: `started`, the order of ids, since ids begin with `createdAt`. */
  sort?: RunSort
  /** Absent: `desc`. */
  dir?: SortDir
  limit: number
  /** The position of the last run of the previous page, in the same order. */
  after?: RunPosition
}

/** A page of runs, perhaps with only a part of the runs that match. */
export interface PartOfRuns {
  runs: RunView[]
  /** Present if the page is not full and more runs may match: the position up to which runs were read. */
  lookedTo?: RunPosition
}

export interface RunStatsQuery {
  app?: string
  /** Only runs created then or later. */
  since?: number
  kind?: RunKind
}

/** Selects steps of a run: every field that is present narrows the selection. */
export interface StepQuery {
  status?: readonly StepStatus[] | undefined
  /** Part of the name; case is ignored. */
  q?: string | undefined
  /** Only steps after the one with this index. */
  after?: number | undefined
  limit?: number | undefined
  /** Leaves out the results. */
  withoutData?: boolean
  /** Only steps that started a run, or found one by its key. */
  hasStarted?: boolean
}

/** The stored reports of some passes of a run. */
export interface PassReports extends Omit<PassFacts, 'underWay'> {
  /** Whether later passes have reports. */
  more: boolean
}

/** Maximum attempts of a step that are read. */
export const ATTEMPTS_READ_MAX = 1000

export interface LimitsQuery {
  app?: string | undefined
  workflow?: string | undefined
  /** The value of the limit's key. */
  key?: string | undefined
  /** Maximum limits of each kind. */
  limit: number
  /** Runs that ended then or later count as released slots. */
  endedSince: number
}

export type SingletonsQuery = Omit<LimitsQuery, 'endedSince'>

/** Turns at limits that steps share. `step`: the pool of this step, with its place. */
export interface TurnPoolsQuery {
  now: number
  app?: string | undefined
  /** The limit's name. */
  name?: string | undefined
  key?: string | undefined
  step?: { runId: string; index: number }
  limit: number
}

export type RunCounts = Record<RunStatus, number>

export interface EventFilter {
  app?: string | undefined
  name?: string | undefined
  /** The beginning of the name. */
  prefix?: string | undefined
  source?: Event['source'] | undefined
  /** Only events that arrived then or later. */
  since?: number | undefined
  /** Only events that arrived before. */
  until?: number | undefined
}

export interface EventQuery extends EventFilter {
  limit: number
  /** Position of the last row of the previous page. */
  before?: number
}

export interface EventNamesQuery {
  prefix?: string | undefined
  limit: number
  /** The last name of the previous page. */
  after?: string | undefined
  /** The events of each name that arrived then or later are counted. */
  since?: number | undefined
}

/** Maximum events of one name that are counted. */
export const EVENTS_OF_NAME_MAX = 1000

/** A name of the log, with its newest event. */
export interface NamedEvents {
  name: string
  lastAt: number
  lastEventId: string
  /** One more than `EVENTS_OF_NAME_MAX` stands for any greater number. */
  count?: number
}

/** A page of events ends with the event that brings its data over this many characters. */
export const EVENT_PAGE_CHARS_MAX = 16 * 1024 * 1024

/** An event of the log with its position, which rises with commit order. */
export interface PositionedEvent {
  position: number
  event: Event
}

/** The run that came of a burst or batch. */
export type BufferRun = Pick<Run, 'id' | 'app' | 'workflow'> & { firstEventId: string }

/** The runs that match a replay filter, all seen at one moment. */
export interface ReplayableRuns {
  matched: number
  /** How many of them have ended. */
  finished: number
  /** The newest ended ones, newest first. */
  runIds: string[]
}

export interface ControlQuery {
  action?: ControlKind
  /** Only entries about this run, and the entry that created it as a fork. */
  runId?: string
  /** Only entries of the API key with this label. */
  actor?: string
  /** Only entries created at or after this time. */
  since?: number
  /** Only entries created before this time. */
  until?: number
  /** Only entries older than the one with this id. */
  before?: string
  limit: number
}

export interface ScheduledQuery {
  limit: number
  /** The sort position of the last row of the previous page. */
  after?: { dueAt: number; id: string } | undefined
}

/** `terms`: only events that match all of them (domain/run/later/scheduled-event). */
export interface ScheduledEventsQuery extends ScheduledQuery {
  terms?: readonly string[] | undefined
}

export interface BuffersQuery extends ScheduledQuery {
  app?: string | undefined
  workflow?: string | undefined
  kind?: 'debounce' | 'batch' | undefined
}

export interface BulkJobsQuery {
  limit: number
  /** The sort position of the last row of the previous page: newest first by (dueAt, id). */
  before?: { dueAt: number; id: string } | undefined
}

export interface LogsQuery {
  from: number
  limit: number
  /** Default: the oldest first. */
  dir?: 'asc' | 'desc'
}

export interface BulkResultsQuery {
  limit: number
  /** Only results with this outcome. */
  outcome?: BulkResult['outcome'] | undefined
  /** Only results of these runs. */
  runIds?: readonly string[]
  /** Run id of the last row of the previous page. */
  after?: string | undefined
}

export interface DeliveryFilter {
  status?: DeliveryStatus
  app?: string
  endpointId?: string
  eventKind?: DeliveryKind
  /** Only deliveries that this run caused. */
  sourceRunId?: string
  /** Only deliveries created at or after this time. */
  since?: number
  /** Only deliveries created before this time. */
  until?: number
}

export interface DeliveryQuery extends DeliveryFilter {
  limit: number
  /** The sort position of the last row of the previous page: newest first by (createdAt, id). */
  after?: { createdAt: number; id: string }
}

/** Maximum deliveries that are looked at to count one status. */
export const DELIVERIES_COUNTED_MAX = 5000

/** How many deliveries have each status; a lower bound if not all could be counted. */
export type DeliveryCounts = { status: DeliveryStatus; count: number; isPart: boolean }[]

export interface DeliveryPage {
  deliveries: Delivery[]
  /** Whether more deliveries follow. */
  more: boolean
}

/** How the deliveries of an endpoint ended (docs/webhooks.md#deliveries). */
export interface EndpointStats {
  endpointId: string
  /** All deliveries, including those under way. */
  delivered: number
  succeeded: number
  /** Exhausted or dead. */
  failed: number
  /** When the newest was created. */
  lastDelivery: number
}

export interface TimelinePage {
  /** The run's status when the page was read; undefined if there is no such run. */
  status: RunStatus | undefined
  frames: StoredFrame[]
  openFrom: number
  /** Whether more frames are stored than fit in the page. */
  more: boolean
}

/** The last run_status frame of a run, with the names of its app and workflow. */
export type RunStatusNow = RunStatusFrame & Pick<Run, 'workflow' | 'app'>

/**
 * Reads of one namespace. A row of another namespace does not exist here. Reads with a signal are scans: they look at many rows
 * or return large ones, use separate readers, and let namespaces take turns. A scan is refused with `overloaded` when too many
 * wait, or when its signal is aborted after other scans took its time; otherwise it rejects with the reason of the signal.
 */
export interface Reads extends StatisticsReads, DefinitionReads, ScheduleReads, QueueReads {
  /** The events after a position, oldest first, at most `limit`. A scan. */
  redrivable(query: RedriveQuery & { after: number; limit: number }, signal?: AbortSignal): Promise<RedrivableEvent[]>
  /** The ids under which runs are stored. An id that a caller gave to a run is stored as another id. Includes erased runs. */
  storedIds(ids: readonly string[]): Promise<string[]>
  /** Whether a run with this id was erased. */
  isErased(runId: string): Promise<boolean>
  run(id: string): Promise<RunView | undefined>
  /** The newest run of the chain that begins with this run. Undefined if no run continues it, or the newest was removed. */
  newestOfChain(firstRunId: string): Promise<RunView | undefined>
  /** The runs that clean up after the run, and the names of the rollbacks that have a record in them. A light read. */
  cleanups(runId: string): Promise<Cleanups>
  /** The run_status frame of the run's present status: a light read, without payloads. */
  status(runId: string): Promise<RunStatusNow | undefined>
  /**
   * The first `limit` matching runs after the position, in the order of the query, without input and result; `status: running`
   * also matches waiting. If each page starts after the last run of the previous page, the pages contain every run that matched
   * throughout exactly once, however many other runs arrive or change. The exception is a run whose own sort key (status,
   * duration) changes: it may be in the pages at its old place, its new place, both or neither. No single slice looks at more
   * than a bounded number of runs and bytes. A page that is read from an index is not a scan.
   */
  runs(query: RunQuery, signal?: AbortSignal): Promise<RunView[]>
  /** The same, but once `enough` is aborted it returns what it has found, at the end of the slice under way. */
  partOfRuns(query: RunQuery, bounds: { signal?: AbortSignal; enough: AbortSignal }): Promise<PartOfRuns>
  /** The number of runs of each status, all counted at one moment. */
  stats(query: RunStatsQuery, signal?: AbortSignal): Promise<RunCounts>
  /** The runs that hold or wait for concurrency limits and throttles. */
  limits(query: LimitsQuery, signal?: AbortSignal): Promise<LimitRows>
  /** The turns at limits that steps share, those with the most waiting steps first. */
  turnPools(query: TurnPoolsQuery): Promise<TurnPoolNow[]>
  /** The live runs with a singleton key, the oldest first. */
  singletons(query: SingletonsQuery, signal?: AbortSignal): Promise<SingletonRun[]>
  /** Names of workflows that runs have and that begin with the prefix, in order. */
  workflowNames(query: { prefix: string; limit: number }): Promise<string[]>
  /** The newest progress of the run, if it has one. */
  progress(runId: string): Promise<(RunProgress & { runId: string; workflow: string; app: string }) | undefined>
  /** In index order. */
  steps(runId: string, query?: StepQuery, signal?: AbortSignal): Promise<Step[]>
  /** The step, and the frames of its attempts in order: only the newest if there are many. */
  step(runId: string, stepId: string): Promise<{ step: Step; frames: AttemptFrame[] } | undefined>
  /** Reports of the first `limit` passes with a number greater than `after`; undefined if there is no such run. */
  passes(runId: string, query: { after: number; limit: number }): Promise<PassReports | undefined>
  /** The run as trees show it. A light read. */
  runOfTree(runId: string): Promise<RunOfTree | undefined>
  /** Runs and events of the namespace that these runs and events caused, at most `limit` of each kind of relation. */
  relatives(
    of: { runIds: readonly string[]; eventIds: readonly string[] },
    limit: number,
  ): Promise<{ runs: RelatedRun[]; events: EmittedEvent[] }>
  /** Ids of the runs that hold the slot, the oldest first. */
  holdersOf(slotId: string, limit: number): Promise<string[]>
  /** Lines with seq > from. */
  logs(runId: string, query: LogsQuery): Promise<LogLine[]>
  /**
   * Frames with seq > after, in seq order, at most `limit`. Steps with an index below `openFrom` have no frames after `after`.
   * Pass 0 at first, and then the returned value with each next call, so that the tail of a long run stays cheap.
   */
  timeline(runId: string, query: { after: number; limit: number; openFrom: number }): Promise<TimelinePage>
  event(id: string): Promise<Event | undefined>
  /** The signals and updates to a run that none of its steps has taken, oldest first. */
  waitingSignals(runId: string, limit: number): Promise<Event[]>
  /** The number of signals and updates to a run, counted up to `atMost`. */
  signalCount(runId: string, atMost: number): Promise<number>
  /** The runs of the buffers that these events opened, where such runs exist. */
  runsOfBuffers(firstEventIds: readonly string[]): Promise<BufferRun[]>
  /** Newest first: as many as the limit, but none after the event whose data brings the page over `EVENT_PAGE_CHARS_MAX`. */
  events(query: EventQuery, signal?: AbortSignal): Promise<PositionedEvent[]>
  /** The names of the log's events, in byte order: one lookup for each name, however many events it has. */
  eventNames(query: EventNamesQuery, signal?: AbortSignal): Promise<NamedEvents[]>
  /** Rows of events that arrive later, the soonest first: as many as the limit, or fewer where their data is large. */
  scheduledEvents(query: ScheduledEventsQuery, signal?: AbortSignal): Promise<FlowRow[]>
  /** Rows of the open buffers, the soonest due first: as many as the limit, or fewer where their data is large. */
  buffers(query: BuffersQuery, signal?: AbortSignal): Promise<FlowRow[]>
  /** The delivery, and its attempts in order. */
  delivery(id: string): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] } | undefined>
  /** Newest first. A page is shorter than the limit where its payloads are large, but for that reason never empty. */
  deliveries(query: DeliveryQuery, signal?: AbortSignal): Promise<DeliveryPage>
  /** The same rows, all of them, without payloads that are stored outside their rows. */
  deliveryHeads(query: DeliveryQuery, signal?: AbortSignal): Promise<Delivery[]>
  /** How many deliveries of each status match the other parts of the filter. */
  deliveryCounts(filter: DeliveryFilter, signal?: AbortSignal): Promise<DeliveryCounts>
  /** A row for each endpoint with deliveries, other than tests, created at or after `since`. */
  endpointStats(since: number, signal?: AbortSignal): Promise<EndpointStats[]>
  /** The matching runs, with the ids of at most `limit` ended ones. */
  replayable(filter: RunFilter, limit: number, signal?: AbortSignal): Promise<ReplayableRuns>
  /** How many runs of each status match the filter, all seen at one moment; with `q`, each is seen when it is looked at. */
  statusCounts(filter: RunFilter, signal?: AbortSignal): Promise<RunCounts>
  /** Rows of bulk actions, newest first. */
  bulkJobs(query: BulkJobsQuery): Promise<FlowRow[]>
  /** Results of the bulk action, by run id. */
  bulkResults(bulkId: string, query: BulkResultsQuery): Promise<BulkResult[]>
  bulkCounts(bulkId: string): Promise<BulkCounts>
  /** Newest first. */
  controlActions(query: ControlQuery): Promise<ControlAction[]>
  /** The documents of a kind by id, at most `limit`. */
  documents(query: { kind: DocumentKind; limit: number }): Promise<Document[]>
  document(kind: DocumentKind, id: string): Promise<Document | undefined>
  /** Whether a stored run failed with the fingerprint. */
  hasFailed(fingerprint: string): Promise<boolean>
}
