// The Store port: the one place of all durable state. Services commit units, claim rows and load what decisions need; the
// reads of one namespace are in store-reads.ts. Implemented by adapters/sql.

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
 * A claim of runs is fair to namespaces, and takes only what there is room for; further due runs stay due. Runs that only end
 * or settle their timers need no room.
 */
export interface RunClaim extends Claim {
  /** The engine's permits, of which each claimed run takes one; absent: there is no bound but the limit. */
  permits?: { max: number; taken: readonly AppPermits[] }
  /** How many runs of each app named here (`appKey`) may be taken; 0 if its runners are full. Other apps have no bound. */
  appRoom?: ReadonlyMap<string, number>
  /** Destinations (`runDestination`) of which none is taken, although the app's other runners may have room. */
  full?: ReadonlySet<string>
  /**
   * The memory for the state of runs. Those that find no room stay due: large ones do not go past an earlier large one, and small ones
   * go past both. Absent: there is no bound.
   */
  memory?: MemoryInUse
  /** Called with the runs that stay due for lack of memory, in the order in which they get some. */
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
  /** How many destinations without a room may be taken from, one delivery each. */
  unnamed: number
}

/** A delivery with its new lease. */
export interface ClaimedDelivery extends Delivery {
  /** Its status was `delivering` before: the owner before never reported the end of the POST. */
  isCutOff?: true
}

/** Rows of a kind whose retention is over. */
export interface Pruning extends Aged {
  /** Most rows of the kind that are removed at once; fewer may be, since the rows that belong to them count too. */
  limit: number
}

/** Idempotency keys of a workflow that events before a time (epoch ms) have claimed, at most so many at once. */
export interface ClaimsOfWorkflow {
  namespace: string
  app: string
  workflow: string
  before: number
  limit: number
}

/** Ends of runs before a time (epoch ms), at most so many at once. */
export interface EndsToCount {
  before: number
  limit: number
}

/** Waits, or watches, for an event name. */
export interface WaitsQuery {
  namespace: string
  eventName: string
  /** The key of a match that they have. Absent: those without a match. */
  matchKey?: string
  /** All, with and without a match. */
  isWhole?: true
  /** The answer has the lists of paths of those with a match, one more than this at most. Absent: none. */
  listsMax?: number
}

/** `isHidden`: the run does not see the event. It looks further back than its creation, for the events in its inbox alone. */
export interface SincePositioned extends PositionedEvent {
  isHidden?: true
}

/** A key that live runs share: that of a singleton, or with `started` the one that they were started with. */
export interface LiveRunsQuery {
  type: 'live' | 'unended' | 'started'
  namespace: string
  app: string
  workflow: string
  key: string
}

export interface Store {
  /**
   * Makes all of the unit durable (fsync) or none of it. Rejects with StaleError if a guard no longer holds. Units of many
   * callers share one durable transaction (group commit); each succeeds or fails alone. A change about a row that exists
   * already (`app.seen`, a log line's dedupe key) is no error.
   */
  commit(unit: Unit): Promise<void>

  /**
   * Leases up to `limit` runs whose `availableAt <= now`, of each namespace in turn, and within a namespace of the highest
   * priority first, then the longest due: sets the owner, raises the fence by 1, and sets `availableAt = leaseUntil`. The runs
   * have those new values; their status is unchanged. A run whose slots are full is held instead.
   */
  claimRuns(claim: RunClaim): Promise<LoadedRun[]>
  /** The same for deliveries, as far as their destinations have room. Their status becomes `delivering`. */
  claimDeliveries(claim: DeliveryClaim): Promise<ClaimedDelivery[]>
  /** The same for flow-control rows, whose version rises by one. */
  claimTimers(claim: Claim): Promise<FlowRow[]>
  /** The earliest `availableAt` in the lane; with `after`, the earliest one later than that. */
  nextAvailableAt(lane: Lane, after?: number): Promise<number | undefined>
  /**
   * Extends the owner's leases of these runs to `until`. Answers the ids of runs that are not the owner's any more, or that
   * are to be cancelled. A raised fence ends no lease: a pause leaves the pass in flight its time.
   */
  extendRuns(owner: string, runIds: readonly string[], until: number): Promise<string[]>
  /**
   * Removes rows whose retention is over, the oldest first, in one short transaction. Answers how many: 0 when none is left.
   * A run is removed with its steps, frames, logs, watches and payloads, a delivery with its attempts. Live runs stay, and so
   * does an event that a live run of its namespace may still look back at.
   */
  prune(pruning: Pruning): Promise<number>
  /** The times (epoch ms) up to which `prune` has removed rows: older ones may be gone. */
  prunedUpTo(): Promise<Partial<Record<'runs' | 'events' | 'deliveries', number>>>
  /** Removes such idempotency keys, in one short transaction. Answers how many: fewer than the limit when none is left. */
  dropClaims(claims: ClaimsOfWorkflow): Promise<number>
  /**
   * Counts ends of runs into the roll-ups, each exactly once, whatever its time, and whether or not another engine counts too; a run that is removed
   * before is counted too. Answers how many: fewer than the limit when none is left.
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
  /** Ids of paused runs that wait for the budget, in their order, behind `after`. */
  waitingForBudget(query: { budgetId: string; after: string; limit: number }): Promise<string[]>
  /** The claim of the dedupe id, unless it is over, and the event that claimed it, if that is known. */
  dedupeClaim(key: DedupeKey): Promise<{ eventId?: string } | undefined>
  /** Ids of the live runs that share the key. */
  liveRuns(of: LiveRunsQuery): Promise<string[]>
  /** Live runs that watch for the event name, at positions greater than `after`, oldest watch first. */
  watchers(query: WaitsQuery & { after: number; limit: number }): Promise<{
    watchers: { position: number; watcher: Watcher }[]
    lists: MatchPaths[]
  }>
  /** Steps that wait for the event name, oldest wait first. */
  waiters(query: WaitsQuery): Promise<{ waiters: Waiter[]; lists: MatchPaths[] }>
  /**
   * Events of that name at log positions greater than `after`, oldest first; `run`: those that were committed after the run was
   * created.
   */
  eventsSince(query: {
    namespace: string
    eventName: string
    runId: string
    after: number | 'run'
    limit: number
  }): Promise<SincePositioned[]>
  /** The inbox: its newest position, and its first event that is not among those. */
  inbox(id: string, without: ReadonlySet<string>): Promise<Omit<InboxRead, 'given'>>
  /** Everything that people and runners have configured, of every namespace, to fill the catalog at start. */
  catalog(): Promise<Configured>
  /**
   * A number that rises, in the same commit, with every change of the answer of `catalog`, except of when a runner was last
   * seen. Engines that share the store read this one number.
   */
  catalogRevision(): Promise<number>
  /** The name that the engines on this store use where they share a Redis with others. Never changes. */
  clusterName(): Promise<string>
  /** The key that signs the tokens of passes: the same for every engine on the store, and a secret of theirs. */
  tokenKey(): Promise<string>
  /** Whether every stored secret must be sealed: an engine with an encryption key has sealed all that there were. */
  areSecretsSealed(): Promise<boolean>

  /** Stores when receivers last accepted a post; an earlier time than the stored one changes nothing. Does not raise the revision. */
  receiversAccepted(posts: readonly { id: string; at: number }[]): Promise<void>
  /** When each of these receivers of the namespace last accepted a post; those that never did are absent. */
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
  /** The newest time that the store has of its own, or 0. */
  latest(): Promise<number>
  /**
   * Moves every time that was set by a duration, in one transaction; not those that were asked for as times. If the clock was set
   * back, schedules are due at `now`, the time after the move, so that their next instants are counted again.
   */
  move(moved: { by: number; now: number }): Promise<void>
  /**
   * Makes due at `now` whatever without a lease was due at `until` or earlier, times of before the clock was set back, and
   * schedules whose next instant may have been counted by the clock of before.
   */
  wakeStranded(stranded: { now: number; until: number }): Promise<void>
}

/** Counts of a store since it was opened. */
export interface StoreStats {
  /** Units that became durable. */
  commits: number
  /** Units that were refused, by the guard that no longer held. */
  stale: Record<Guard['type'], number>
  /** Units, claims and other work sent to the writer. */
  requests: number
  batches: number
  /** Durable transactions: many requests share each. */
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
