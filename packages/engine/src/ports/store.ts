// The Store port: the one truth (architecture, "Ports that matter"). Adapters live in adapters/sql.

import type { Guard, RunStatusFrame, Unit } from '../domain/model/change.ts'
import type { ControlAction, ControlKind } from '../domain/model/control-action.ts'
import type { Delivery, DeliveryAttempt, DeliveryStatus } from '../domain/model/delivery.ts'
import type { Endpoint } from '../domain/model/endpoint.ts'
import type { DedupeKey, Event, Waiter, Watcher } from '../domain/model/event.ts'
import type { FlowRow } from '../domain/model/flow-row.ts'
import type { LogLine } from '../domain/model/log-line.ts'
import type { Receiver } from '../domain/model/receiver.ts'
import type { Run, RunStatus } from '../domain/model/run.ts'
import type { Step } from '../domain/model/step.ts'
import type { App, Runner, Workflow } from '../domain/model/workflow.ts'
import type { Aged } from '../domain/run/retention.ts'
import type { RunPosition, RunSort, SortDir } from '../domain/view/run-order.ts'
import type { StoredFrame } from '../domain/view/timeline-frames.ts'
import type { Admin } from './admin.ts'

/** A run as its owner needs it: the row, every step, and how many handler-level log lines are stored. */
export interface LoadedRun {
  run: Run
  /** In index order. */
  steps: Step[]
  /** Highest stored `@root` log index + 1. */
  rootLogged: number
}

export interface Claim {
  owner: string
  now: number
  leaseUntil: number
  limit: number
}

/**
 * A claim of deliveries is fair to their destinations: one that is slow or down takes its own room alone, and
 * what is due there stays due.
 */
export interface DeliveryClaim extends Claim {
  /** How many may be taken of each destination named here; 0 of one that is full. */
  room: ReadonlyMap<string, number>
  /** Of a destination not named one may be taken, and of all of these together so many. */
  unnamed: number
}

/** A delivery with its new lease. */
export interface ClaimedDelivery extends Delivery {
  /** It was `delivering` before: whoever had claimed it never told how its POST ended. */
  isCutOff?: true
}

/** Rows of a kind that have had their time. */
export interface Pruning extends Aged {
  /** Most rows of the kind that go at once; fewer may, for what goes with them counts too. */
  limit: number
}

/** An event of the log with its position (rises with commit order). */
export interface PositionedEvent {
  position: number
  event: Event
}

export interface Store {
  /**
   * Makes all of the unit durable (fsync) or none of it. Rejects with StaleError when a guard no longer holds.
   * Units from many callers share one durable transaction (group commit); each stands or falls alone.
   * Changes that name a row which exists already (`app.seen`, a log line's dedupe key) are no error.
   */
  commit(unit: Unit): Promise<void>

  /**
   * Leases up to `limit` runs whose `availableAt <= now`, oldest first: owner set, fence + 1,
   * `availableAt = leaseUntil`. The returned runs carry those new values; their status is untouched.
   */
  claimRuns(claim: Claim): Promise<LoadedRun[]>
  /** The same for deliveries, as far as their destinations have room. Their status is `delivering` from then on. */
  claimDeliveries(claim: DeliveryClaim): Promise<ClaimedDelivery[]>
  /** The same for flow-control rows, whose version rises by one. */
  claimTimers(claim: Claim): Promise<FlowRow[]>
  /** The earliest `availableAt` in the lane, behind `after` if that is given. */
  nextAvailableAt(lane: Lane, after?: number): Promise<number | undefined>
  /**
   * Pushes the owner's leases of these runs to `until`; answers the ids of those that are not its any more, or are
   * asked to cancel. A fence that somebody bumped takes no lease away: a pause leaves the pass in flight its time.
   */
  extendRuns(owner: string, runIds: readonly string[], until: number): Promise<string[]>
  /**
   * Removes rows that have had their time, the oldest first, in one short transaction, and answers how many: 0 when
   * there are none left. A run goes with its steps, frames, logs, watches and payloads, a delivery with its attempts.
   * What is under way stays, and so does an event that a live run of its namespace may still look back at.
   */
  prune(pruning: Pruning): Promise<number>
  /** Gives back every lease of owners other than `owner`: right only where one process owns the store. */
  releaseOthers(owner: string, now: number): Promise<void>

  /** The run as an owner or a controller needs it, in whatever namespace. */
  loadRun(runId: string): Promise<LoadedRun | undefined>
  /** A flow-control row, if it exists. */
  flowRow(id: string): Promise<FlowRow | undefined>
  /** Whether the dedupe id is claimed, and its claim not over. */
  isDeduped(key: DedupeKey): Promise<boolean>
  /** Live runs with the singleton key. */
  liveRuns(of: { namespace: string; app: string; workflow: string; key: string }): Promise<string[]>
  /** Live runs that watch for the event name, behind position `after`, oldest watch first. */
  watchers(query: {
    namespace: string
    eventName: string
    after: number
    limit: number
  }): Promise<{ position: number; watcher: Watcher }[]>
  /** Steps that wait for the event name, oldest wait first. */
  waiters(namespace: string, eventName: string): Promise<Waiter[]>
  /** Events of that name received at or after `since`, behind position `after`, oldest first. */
  eventsSince(query: {
    namespace: string
    eventName: string
    since: number
    after: number
    limit: number
  }): Promise<PositionedEvent[]>
  /** What people and runners have configured, of every namespace, to fill the catalog at start. */
  catalog(): Promise<Configured>
  /**
   * Rises, in the same commit, with everything that makes `catalog` answer something else, but for when a runner was
   * last seen: engines that share the store look at one number.
   */
  catalogRevision(): Promise<number>
  /** What the engines on this store call themselves where they share a Redis with others. Never changes. */
  clusterName(): Promise<string>

  /** API keys and namespaces. */
  readonly admin: Admin

  /** Reads of one namespace. A row of another namespace does not exist here. */
  in(namespace: string): Reads
  /** Rejects when the store cannot be read and written. */
  ping(): Promise<void>
  /** What it has written since it was opened; absent where nobody counts. */
  stats?(): StoreStats
  close(): Promise<void>
}

/** What a store has written since it was opened. */
export interface StoreStats {
  /** Units that became durable. */
  commits: number
  /** Units that were refused, by the guard that no longer held. */
  stale: Partial<Record<Guard['type'], number>>
  /** Units, claims and the like, told to the writer. */
  requests: number
  batches: number
  /** Durable ones: many requests share each. */
  transactions: number
  /** Requests that are not answered yet. */
  pending: number
  /** Batches by how many requests were in them; `counts` has one more entry, of those beyond the last bound. */
  batchSizes: { bounds: readonly number[]; counts: readonly number[]; sum: number }
}

/** Everything decisions look up in memory. */
export interface Configured {
  apps: App[]
  runners: Runner[]
  workflows: Workflow[]
  endpoints: Endpoint[]
  receivers: Receiver[]
}

export type Lane = 'runs' | 'deliveries' | 'timers'

/** A run with the name of the step it is at (the newest unsettled one, else the newest). */
export type RunView = Run & { currentStepName?: string }

/** Which runs a list is about: every field that is given narrows it. */
export interface RunFilter extends ReplayFilter {
  eventId?: string
  replayOf?: string
  /** Part of the id, the workflow or the app, whatever its case. */
  q?: string
  /** Widens `q` to input, result and error. */
  deep?: boolean
}

export interface RunQuery extends RunFilter {
  /** `started` when not given: by id, which begins with `createdAt`. */
  sort?: RunSort
  /** `desc` when not given. */
  dir?: SortDir
  limit: number
  /** The position of the last run of the page before, in the same order. */
  after?: RunPosition
}

export interface RunStatsQuery {
  app?: string
  /** Only runs created then or later. */
  since?: number
}

export type RunCounts = Record<RunStatus, number>

export interface EventQuery {
  app?: string
  name?: string
  limit: number
  /** Position of the last row of the page before. */
  before?: number
}

/** Which runs a bulk replay is about: every field that is given narrows it. */
export interface ReplayFilter {
  app?: string
  workflow?: string
  /** `running` also matches waiting, as in the list. */
  status?: RunStatus
  runType?: 'event' | 'cron'
  /** Only runs created then or later. */
  since?: number
}

/** The runs that match a replay filter, all of it seen at one moment. */
export interface ReplayableRuns {
  matched: number
  /** How many of them have ended. */
  finished: number
  /** The newest of those that have ended, newest first. */
  runIds: string[]
}

export interface ControlQuery {
  action?: ControlKind
  /** Only entries that target this run or forked into it. */
  runId?: string
  limit: number
}

export interface DeliveryQuery {
  status?: DeliveryStatus
  app?: string
  limit: number
  /** The sort position of the last row of the page before: newest first by (createdAt, id). */
  after?: { createdAt: number; id: string }
}

export interface DeliveryPage {
  deliveries: Delivery[]
  /** Whether there are more behind it. */
  more: boolean
}

/** How the deliveries of an endpoint went (contract §2.9). */
export interface EndpointStats {
  endpointId: string
  /** All of them, those under way too. */
  delivered: number
  succeeded: number
  /** Exhausted or dead. */
  failed: number
  /** When the newest was created. */
  lastDelivery: number
}

/** What a held run's place in its queue depends on. */
export type HeldRun = Pick<Run, 'id' | 'waitsForSlot' | 'startQueue' | 'priority'>

/** Held runs that are counted at most, to tell a run's position among them. */
export const HELD_COUNTED_MAX = 10_000

export interface Reads {
  run(id: string): Promise<RunView | undefined>
  /** The run_status frame that tells the run's present status: a light read, without payloads. */
  status(runId: string): Promise<RunStatusFrame | undefined>
  /**
   * The first `limit` matching runs behind the position, in the order asked for, without input and result;
   * `status: running` also matches waiting. Pages that go on from each other's last run meet every run that matched
   * throughout exactly once, whatever arrives or changes meanwhile. Only of a run whose own sort key changes (status,
   * duration) that is not promised: it is met where it stood, where it stands, at both or at neither.
   * No single read looks at more than a bounded number of runs; between two of them others get their turn, and
   * `signal` is asked: aborted, it rejects with its reason.
   */
  runs(query: RunQuery, signal?: AbortSignal): Promise<RunView[]>
  /** How many runs there are of each status, all counted at one moment. */
  stats(query: RunStatsQuery): Promise<RunCounts>
  /** How many runs come before this one in its queue, of a slot or of a throttle; it counts up to `HELD_COUNTED_MAX`. */
  heldBefore(run: HeldRun): Promise<number>
  /** The first run in the start queue of the throttle: of the highest priority, then the oldest. */
  firstInStartQueue(throttleId: string): Promise<Pick<Run, 'id' | 'priority'> | undefined>
  /** In index order. */
  steps(runId: string): Promise<Step[]>
  /** Lines with seq > from, oldest first. */
  logs(runId: string, query: { from: number; limit: number }): Promise<LogLine[]>
  /**
   * Frames with seq > after, in seq order, at most `limit`. `openFrom` says from which step index on to look:
   * steps before it have told all they ever will up to `after`. Pass the answered value (0 at first) with the next
   * call, and a long run's tail stays cheap.
   */
  timeline(runId: string, query: { after: number; limit: number; openFrom: number }): Promise<TimelinePage>
  event(id: string): Promise<Event | undefined>
  events(query: EventQuery): Promise<PositionedEvent[]>
  /** The delivery, and its attempts in order. */
  delivery(id: string): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] } | undefined>
  /** Newest first. A page may be shorter than asked for when its payloads are large; it is never empty for that. */
  deliveries(query: DeliveryQuery): Promise<DeliveryPage>
  /** A row for each endpoint with deliveries created at or after `since`. */
  endpointStats(since: number): Promise<EndpointStats[]>
  /** The rows of the namespace's schedules, by app, workflow and cron. */
  schedules(): Promise<FlowRow[]>
  /** The matching runs, with the ids of at most `limit` that have ended. */
  replayable(filter: ReplayFilter, limit: number): Promise<ReplayableRuns>
  /** Newest first. */
  controlActions(query: ControlQuery): Promise<ControlAction[]>
}

export interface TimelinePage {
  /** What the run had come to when the page was read; absent when there is no such run. */
  status: RunStatus | undefined
  frames: StoredFrame[]
  openFrom: number
  /** Whether more frames were stored than fit in the page. */
  more: boolean
}
