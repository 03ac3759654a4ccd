// The Store port: the one truth (architecture, "Ports that matter"). Adapters live in adapters/sql.

import type { TimelineFrame } from '@perdure/protocol'
import type { Unit } from '../domain/change.ts'
import type { Delivery, DeliveryAttempt } from '../domain/delivery.ts'
import type { Event, Waiter } from '../domain/event.ts'
import type { LogLine } from '../domain/log-line.ts'
import type { Run, RunStatus } from '../domain/run.ts'
import type { Step } from '../domain/step.ts'
import type { App, Runner, Workflow } from '../domain/workflow.ts'

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
  /** The same for deliveries; the status is untouched. */
  claimDeliveries(claim: Claim): Promise<Delivery[]>
  /** The earliest `availableAt` in the lane, if any. */
  nextAvailableAt(lane: Lane): Promise<number | undefined>
  /** Pushes the leases that still carry their fence to `until`; answers the run ids that were lost. */
  extendRuns(leases: { runId: string; fence: number }[], until: number): Promise<string[]>
  /** Gives back every lease of owners other than `owner`: right only where one process owns the store. */
  releaseOthers(owner: string, now: number): Promise<void>

  /** The run as an owner or a controller needs it, in whatever namespace. */
  loadRun(runId: string): Promise<LoadedRun | undefined>
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
  /** Every app, runner and workflow of every namespace, to fill the catalog at start. */
  catalog(): Promise<{ apps: App[]; runners: Runner[]; workflows: Workflow[] }>

  /** Reads of one namespace. A row of another namespace does not exist here. */
  in(namespace: string): Reads
  /** Rejects when the store cannot be read and written. */
  ping(): Promise<void>
  close(): Promise<void>
}

export type Lane = 'runs' | 'deliveries'

/** A run with the name of the step it is at (the newest unsettled one, else the newest). */
export type RunView = Run & { currentStepName?: string }

export interface RunQuery {
  app?: string
  status?: RunStatus
  limit: number
  /** The sort position of the last row of the page before: newest first by (createdAt, id). */
  after?: { createdAt: number; id: string }
}

export interface EventQuery {
  app?: string
  name?: string
  limit: number
  /** Position of the last row of the page before. */
  before?: number
}

export interface Reads {
  run(id: string): Promise<RunView | undefined>
  /** At most `limit` runs, newest first, without input and result; `status: running` also matches waiting. */
  runs(query: RunQuery): Promise<RunView[]>
  /** In index order. */
  steps(runId: string): Promise<Step[]>
  /** Lines with seq > from, oldest first. */
  logs(runId: string, query: { from: number; limit: number }): Promise<LogLine[]>
  /**
   * Frames with seq > after, in seq order, at most `limit`. `openFrom` says from which step index on to look;
   * pass the answered value (0 at first) with the next call, and a long run's tail stays cheap.
   */
  timeline(runId: string, query: { after: number; limit: number; openFrom: number }): Promise<TimelinePage>
  event(id: string): Promise<Event | undefined>
  events(query: EventQuery): Promise<PositionedEvent[]>
  delivery(id: string): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] } | undefined>
}

export interface TimelinePage {
  frames: TimelineFrame[]
  openFrom: number
  /** Whether more frames were stored than fit in the page. */
  more: boolean
}
