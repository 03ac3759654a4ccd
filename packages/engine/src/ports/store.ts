// The Store port: the only place of durable state. Services commit units, claim rows and load what decisions need; the reads of
// one namespace are in store-reads.ts. Implemented by adapters/sql.

import type { LiveKey } from '../domain/arrival/live/live-runs.ts'
import type { BudgetLine } from '../domain/model/budget/budget.ts'
import type { Guard, Unit } from '../domain/model/change.ts'
import type { Delivery } from '../domain/model/delivery.ts'
import type { Endpoint } from '../domain/model/endpoint.ts'
import type { DedupeKey, InboxRead, MatchPaths, Waiter, Watcher } from '../domain/model/event.ts'
import type { FlowRow } from '../domain/model/flow-row.ts'
import type { Receiver } from '../domain/model/receiver.ts'
import type { App, KeptPause, Runner, StepLimit, Workflow } from '../domain/model/workflow.ts'
import type { AppPermits } from '../domain/pass/permits/fair-permits.ts'
import type { MemoryInUse } from '../domain/pass/permits/run-memory.ts'
import type { Aged } from '../domain/run/retention.ts'
import type { LoadedRun } from '../domain/run/state.ts'
import type { Admin } from './admin.ts'
import type { EngineReports } from './engine-reports.ts'
import type { PositionedEvent, Reads } from './store-reads.ts'
import type { StreamReads } from './stream-reads.ts'

/** A claim of due rows. Times are epoch ms. */
export interface Claim {
  owner: string
  now: number
  leaseUntil: number
  limit: number
}

/**
 * A claim of runs is fair to namespaces, and takes only as many runs as there is room for; further due runs stay due. Runs that
 * only end or settle their timers need no room.
 */
export interface RunClaim extends Claim {
  /** The engine's permits; each claimed run takes one. Absent: there is no bound but the limit. */
  permits?: { max: number; taken: readonly AppPermits[] }
  /** How many runs of each app named here (`appKey`) may be taken; 0 if its runners are full. Other apps have no bound. */
  appRoom?: ReadonlyMap<string, number>
  /** Destinations (`runDestination`) from which no run is taken, although the app's other runners may have room. */
  full?: ReadonlySet<string>
  /**
   * The memory for the state of runs. Runs without room stay due: large ones do not go past an earlier large one, and small
   * ones go past both. Absent: there is no bound.
   */
  memory?: MemoryInUse
  /** Called with the runs that stay due for lack of memory, in the order in which they will get it. */
  onLeft?(left: readonly LeftRun[]): void
}

/** A due run that a claim left for lack of memory, and the size of its state. */
export interface LeftRun {
  id: string
  bytes: number
}

/**
 * A claim of deliveries is fair to their destinations: a slow destination uses up only its own room, and its further due
 * deliveries stay due.
 */
export interface DeliveryClaim extends Claim {
  /** How many deliveries of each destination named here may be taken; 0 if the destination is full. */
  room: ReadonlyMap<string, number>
  /** From how many destinations that are not named in `room` deliveries may be taken, one each. */
  unnamed: number
}

/** A delivery with its new lease. */
export interface ClaimedDelivery extends Delivery {
  /** The delivery was already `delivering`: the previous owner never reported the end of the POST. */
  isCutOff?: true
}

/** Rows of a kind whose retention is over. */
export interface Pruning extends Aged {
  /** Maximum rows of the kind that are removed at once. Fewer may be removed, since the rows that belong to them count too. */
  limit: number
}

/** Idempotency keys of a workflow that were claimed by events before a time (epoch ms), at most `limit` at once. */
export interface ClaimsOfWorkflow {
  namespace: string
  app: string
  workflow: string
  before: number
  limit: number
}

/** Ends of runs before a time (epoch ms), at most `limit` at once. */
export interface EndsToCount {
  before: number
  limit: number
}

/** Waits, or watches, for an event name. */
export interface WaitsQuery {
  namespace: string
  eventName: string
  /** The key of their match. Absent: waits without a match. */
  matchKey?: string
  /** All, with and without a match. */
  isWhole?: true
  /** The answer has the lists of paths in the matches, one more than this at most. Absent: none. */
  listsMax?: number
}

/**
 * `isHidden`: the run does not see the event. The read looks further back than the run's creation, only for events in its
 * inbox.
 */
export interface SincePositioned extends PositionedEvent {
  isHidden?: true
}

export interface Store {
  /**
   * Makes all of the unit durable (fsync) or none of it. Rejects with StaleError if a guard no longer holds. Units of many
   * callers share one durable transaction (group commit); each succeeds or fails alone. A change about a row that exists
   * already (`app.seen`, a log line's dedupe key) is no error.
   */
  commit(unit: Unit): Promise<void>

  /**
   * Leases up to `limit` runs whose `availableAt <= now`. Namespaces take turns; within a namespace the highest priority comes
   * first, then the longest due. Each run gets the owner, a fence raised by 1, and `availableAt = leaseUntil`. The returned
   * runs have these new values; their status is unchanged. A run whose slots are full is held instead.
   */
  claimRuns(claim: RunClaim): Promise<LoadedRun[]>
  /** The same for deliveries, up to the room of their destinations. Their status becomes `delivering`. */
  claimDeliveries(claim: DeliveryClaim): Promise<ClaimedDelivery[]>
  /** The same for flow-control rows, whose version rises by one. */
  claimTimers(claim: Claim): Promise<FlowRow[]>
  /** The earliest `availableAt` in the lane; with `after`, the earliest one later than that. */
  nextAvailableAt(lane: Lane, after?: number): Promise<number | undefined>
  /**
   * Extends the owner's leases of these runs to `until`. Returns the ids of runs that no longer belong to the owner, or are to
   * be cancelled. A raised fence ends no lease: a pause lets the pass in flight continue.
   */
  extendRuns(owner: string, runIds: readonly string[], until: number): Promise<string[]>
  /**
   * Removes rows whose retention is over, the oldest first, in one short transaction. Returns how many: 0 when none is left. A
   * run is removed with its steps, frames, logs, watches and payloads, a delivery with its attempts. Live runs stay, and so
   * does an event that a live run of its namespace may still look back at.
   */
  prune(pruning: Pruning): Promise<number>
  /** The times (epoch ms) up to which `prune` has removed rows: older ones may be gone. */
  prunedUpTo(): Promise<Partial<Record<'runs' | 'events' | 'deliveries', number>>>
  /** Removes such idempotency keys, in one short transaction. Returns how many: fewer than the limit when none is left. */
  dropClaims(claims: ClaimsOfWorkflow): Promise<number>
  /**
   * Counts ends of runs into the roll-ups. Each end is counted exactly once, whatever its time, even if another engine counts
   * too, and also if the run is removed before. Returns how many: fewer than the limit when none is left.
   */
  countEnds(ends: EndsToCount): Promise<number>
  /** Ends every lease of owners other than `owner`. Only correct where one process owns the store. */
  releaseOthers(owner: string, now: number): Promise<void>

  /** The run as an owner or a controller needs it, of any namespace. */
  loadRun(runId: string): Promise<LoadedRun | undefined>
  /** A flow-control row, if it exists. */
  flowRow(id: string): Promise<FlowRow | undefined>
  /** The lines of the budgets, in the order of their names. */
  budgets(ids: readonly string[]): Promise<BudgetLine[]>
  /** Ids of paused runs that wait for the budget, in their order, after `after`. */
  waitingForBudget(query: { budgetId: string; after: string; limit: number }): Promise<string[]>
  /** The claim of the dedupe id, unless it has expired, and the event that claimed it, if that is known. */
  dedupeClaim(key: DedupeKey): Promise<{ eventId?: string } | undefined>
  /** Ids of the live runs that share the key. */
  liveRuns(of: LiveKey): Promise<string[]>
  /** Live runs that watch for the event name, at positions greater than `after`, oldest watch first. */
  watchers(query: WaitsQuery & { after: number; limit: number }): Promise<{
    watchers: { position: number; watcher: Watcher }[]
    lists: MatchPaths[]
  }>
  /** Steps that wait for the event name, oldest wait first. */
  waiters(query: WaitsQuery): Promise<{ waiters: Waiter[]; lists: MatchPaths[] }>
  /**
   * Events of that name at log positions greater than `after`, oldest first; `run`: only events that were committed after the
   * run was created.
   */
  eventsSince(query: {
    namespace: string
    eventName: string
    runId: string
    after: number | 'run'
    limit: number
  }): Promise<SincePositioned[]>
  /** The inbox: its newest position, and its first event whose id is not in `without`. */
  inbox(id: string, without: ReadonlySet<string>): Promise<Omit<InboxRead, 'given'>>
  /** All configuration of people and runners, of every namespace, to fill the catalog at start. */
  catalog(): Promise<Configured>
  /**
   * A number that rises, in the same commit, with every change of the result of `catalog`, except the times at which runners
   * were last seen. Engines that share the store read only this number.
   */
  catalogRevision(): Promise<number>
  /** The name that the engines on this store use where they share a Redis with others. Never changes. */
  clusterName(): Promise<string>
  /** The key that signs the tokens of passes: a secret that all engines on the store share. */
  tokenKey(): Promise<string>
  /** Whether every stored secret must be sealed: an engine with an encryption key has sealed all existing ones. */
  areSecretsSealed(): Promise<boolean>

  /** Stores when receivers last accepted a post; an earlier time than the stored one changes nothing. Does not raise the revision. */
  receiversAccepted(posts: readonly { id: string; at: number }[]): Promise<void>
  /** When each of these receivers of the namespace last accepted a post; receivers that never did are absent. */
  lastAcceptedAt(namespace: string, receiverIds: readonly string[]): Promise<Map<string, number>>

  /** API keys and namespaces. */
  readonly admin: Admin
  /** Output streams of runs. */
  readonly streams: StreamReads
  /** Only where one process owns the store. */
  readonly times?: StoreTimes
  /** Only where engines may share the store. */
  readonly engines?: EngineReports

  in(namespace: string): Reads
  /** Rejects if the store cannot be read and written. */
  ping(): Promise<void>
  /** Why the store accepts no more writes: it failed or was lost. Absent on stores that recover by themselves. */
  failure?(): Error | undefined
  /** Counts since the store was opened; absent on a store that does not count. */
  stats?(): StoreStats
  close(): Promise<void>
}

/** The stored times of a store that one process owns, whose wall clock somebody set (docs/decisions/0013-clocks.md). */
export interface StoreTimes {
  /** The newest time that the store itself has recorded, or 0. */
  latest(): Promise<number>
  /**
   * Moves every time that was set as a duration, in one transaction, but no time that was requested as a time. If the clock was
   * set back, schedules become due at `now`, the time after the move, so that their next instants are computed again.
   */
  move(moved: { by: number; now: number }): Promise<void>
  /**
   * Makes due at `now` every row without a lease that was due at `until` or earlier (times from before the clock was set back),
   * and schedules whose next instant may have been computed with the earlier clock.
   */
  wakeStranded(stranded: { now: number; until: number }): Promise<void>
}

/** Counts of a store since it was opened. */
export interface StoreStats {
  /** Units that became durable. */
  commits: number
  /** Refused units, by the guard that no longer held. */
  stale: Record<Guard['type'], number>
  /** Units, claims and other work sent to the writer. */
  requests: number
  batches: number
  /** Durable transactions; each is shared by many requests. */
  transactions: number
  /** Requests that are not answered yet. */
  pending: number
  /** Batches by the number of their requests; `counts` has one more entry, for batches beyond the last bound. */
  batchSizes: { bounds: readonly number[]; counts: readonly number[]; sum: number }
}

/** Everything that decisions look up in memory. */
export interface Configured {
  apps: App[]
  stepLimits: StepLimit[]
  runners: Runner[]
  workflows: Workflow[]
  keptPauses: KeptPause[]
  endpoints: Endpoint[]
  receivers: Receiver[]
}

export type Lane = 'runs' | 'deliveries' | 'timers'
