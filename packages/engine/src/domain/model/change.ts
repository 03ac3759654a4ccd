// Every write is a list of changes. Decisions return them; the store makes a whole unit of them durable at once.

import type { RunError } from '@perdure/protocol'
import type { StoredKey } from './api-key.ts'
import type { Attributes } from './attributes.ts'
import type { Sums } from './budget/budget.ts'
import type { BulkResult } from './bulk.ts'
import type { ControlAction } from './control-action.ts'
import type { CountedPost, Delivery, DeliveryAttempt } from './delivery.ts'
import type { DocumentChange, DocumentGuard } from './document/document.ts'
import type { Endpoint } from './endpoint.ts'
import type { DeliveredWith, Event, UpdateAnswer, Waiter } from './event.ts'
import type { OperatorLimits } from './flow-control.ts'
import type { FlowRow, TurnPool } from './flow-row.ts'
import type { LogLine } from './log-line.ts'
import type { Receiver } from './receiver.ts'
import type { Run, RunProgress, RunStatus } from './run.ts'
import type { PassSent, Step, StepWoken } from './step.ts'
import type { StreamChange } from './stream/stream-change.ts'
import type { App, DeletedWorkflow, KeptDefinition, Runner, StepLimit, Workflow } from './workflow.ts'

/**
 * A run_status frame that is stored as a row; for a failed pass, it names the pass. Creation, first start and end are read from
 * the run's row instead.
 */
export interface RunStatusFrame extends Partial<PassSent> {
  seq: number
  ts: number
  status: RunStatus
  attempt: number
  /** Why the run failed, or why its last pass failed; bounded (view/timeline-frames). */
  error?: RunError
}

export type Change =
  /** A new run, queued or (leased in the same commit) running. */
  | { type: 'run.created'; run: Run }
  /**
   * The run's mutable part after a decision, with the frames of its status moves, except first start and end. `started`: the
   * run started here for the first time. `interrupts`: somebody other than its owner ended the run, so the pass in flight can
   * be aborted.
   */
  | { type: 'run.moved'; run: Run; frames: RunStatusFrame[]; started?: true; interrupts?: true }
  /** The run that ends with this commit is kept until this time, whatever the engine's retention is. */
  | { type: 'run.kept'; runId: string; until: number }
  /** The run's attributes after a decision that also moves it; added and removed ones are in their indexed form. */
  | {
      type: 'run.attributed'
      namespace: string
      runId: string
      attributes?: Attributes
      added: string[]
      removed: string[]
    }
  /** A newer progress of the run. The rest of its row does not change. */
  | { type: 'run.progressed'; run: Readonly<Run>; progress: RunProgress }
  /**
   * Requests that the next lease cancels the run, and makes the run available; no effect on a terminal run. `followsChain`: the
   * same for the newest run of the chain that the run began. `skipsCleanup`: no cleanup run follows.
   */
  | { type: 'run.cancelRequested'; runId: string; at: number; followsChain?: true; skipsCleanup?: true }
  /**
   * Steps wait for the end of the run from now on, or it has got its first signal or its first delivered event. Its fence
   * rises, so that its end sees the mark; no effect on a terminal run, nor on one that already has an inbox of events.
   */
  | { type: 'run.marked'; runId: string; mark: 'awaited' | 'signalled' | 'delivered' }
  /** Puts an event of the log into the inbox of a run, instead of starting another run with it. */
  | { type: 'event.delivered'; runId: string; eventId: string; sent: DeliveredWith }
  /**
   * The run ends: the events that it was given, and the one that starts the next run, leave its inbox. The next run takes over
   * the inbox, and looks back in the log to the first event that remains there.
   */
  | { type: 'inbox.left'; inbox: string; eventIds: readonly string[]; nextRunId?: string }
  /**
   * The run ends, and its log states how many signals no step has taken. With `nextRunId` the run continues instead: these
   * signals, and those of `eventIds`, are for that run from now on.
   */
  | { type: 'signals.left'; runId: string; at: number; seq: number; nextRunId?: string; eventIds?: readonly string[] }
  /** Stores the first answer to an update of the run. */
  | { type: 'update.answered'; namespace: string; runId: string; updateId: string; answer: UpdateAnswer }
  /**
   * The chain that began with the run has ended: every step that waits for it is due, and when its run is leased, it reads the
   * end.
   */
  | { type: 'waits.due'; runId: string; at: number }
  /** Adds to the sums of the budgets. Names for which a budget has no row are left out. */
  | { type: 'budget.spent'; budgetIds: readonly string[]; sums: Sums }
  /** Sets limits of the budget; null removes one. No effect on a budget that is gone. */
  | { type: 'budget.limited'; budgetId: string; limits: Readonly<Record<string, number | null>> }
  /** Makes every queued run available that is held for lack of a runner, in the whole app or in these workflows. */
  | { type: 'app.runnerArrived'; namespace: string; app: string; at: number; workflows?: readonly string[] }
  /**
   * A run released its slots. For each slot, the first run that is held for it (highest priority, then oldest) becomes
   * available at `at`.
   */
  | { type: 'slots.freed'; slotIds: string[]; at: number }
  /**
   * The first `count` runs in the throttle's start queue become available at `at`: the runs of the highest priority, then the
   * oldest, or with `byTurn` the runs of the keys with the next turns.
   */
  | { type: 'startQueue.woken'; id: string; count: number; at: number; byTurn?: true }
  /** A new step. `at` is when it reached its status; absent: when it started. */
  | { type: 'step.recorded'; step: Step; at?: number }
  /** A step that was unsettled, after the change. `isLate`: the end of the run had cancelled it. */
  | { type: 'step.moved'; step: Step; at?: number; isLate?: true }
  | StepWoken
  | StreamChange
  | DocumentChange
  | { type: 'log.written'; line: LogLine }
  | { type: 'event.recorded'; event: Event }
  /** Claims (app, dedupeId) until `expiresAt`. `app` is '' for broadcasts; webhooks use a separate scope. */
  | { type: 'dedupe.claimed'; namespace: string; app: string; dedupeId: string; expiresAt: number; eventId?: string }
  | { type: 'delivery.created'; delivery: Delivery }
  | { type: 'delivery.moved'; delivery: Delivery }
  /** `counted`: the post in the series of its endpoint, if it counts. */
  | { type: 'delivery.attempted'; attempt: DeliveryAttempt; counted?: CountedPost | undefined }
  /** Inserts the app if it is new. */
  | { type: 'app.seen'; app: App }
  /** `isRepeat`: only `lastSeenAt` differs from the last registration. */
  | { type: 'runner.registered'; runner: Runner; isRepeat?: true }
  /** Removes a runner that is gone. Its workflows stay registered. */
  | { type: 'runner.forgotten'; namespace: string; app: string; runnerId: string }
  | { type: 'workflow.registered'; workflow: Workflow }
  /** Adds `now` to the workflow's history of definitions, and `before` if the history lacks it. */
  | { type: 'definition.changed'; now: KeptDefinition; before?: KeptDefinition }
  /** The workflow starts nothing until it is resumed. After a resume, the waiting runs become available at `at`. */
  | { type: 'workflow.paused'; namespace: string; app: string; name: string; pausedAt: number }
  | { type: 'workflow.resumed'; namespace: string; app: string; name: string; at: number }
  /** The concurrency limits of the workflow changed: its runs that wait for a slot become available at `at`. */
  | { type: 'workflow.limited'; namespace: string; app: string; name: string; at: number }
  /** The limit of the workflow's throttle changed: one run of each of its start queues becomes available at `at`. */
  | { type: 'workflow.throttled'; namespace: string; app: string; name: string; at: number }
  /** An operator sets the limits of the workflow, or removes them. */
  | { type: 'workflow.limitsSet'; namespace: string; app: string; name: string; limits?: OperatorLimits }
  /** No runner registers the workflow any more. If it is paused, it is paused again once one does. */
  | { type: 'workflow.dropped'; namespace: string; app: string; name: string }
  /** A person deletes the workflow: its definition is removed with its schedules, open buffers and claimed idempotency keys. */
  | { type: 'workflow.deleted'; namespace: string; app: string; name: string }
  | { type: 'app.deleted'; namespace: string; app: string }
  /** Replaces the list of deleted workflows that the runner claims. A registration keeps it. */
  | {
      type: 'runner.workflowsDeleted'
      namespace: string
      app: string
      runnerId: string
      deletedWorkflows: readonly DeletedWorkflow[]
    }
  /** A new or changed webhook endpoint or receiver. */
  | { type: 'endpoint.saved'; endpoint: Endpoint }
  | { type: 'endpoint.deleted'; namespace: string; id: string }
  | { type: 'receiver.saved'; receiver: Receiver }
  | { type: 'receiver.deleted'; namespace: string; id: string }
  /** From now on every stored secret is sealed; false: an engine without a key stores secrets as they are. */
  | { type: 'secrets.sealed'; isSealed: boolean }
  /** A new or changed flow-control row. */
  | { type: 'flow.saved'; row: FlowRow }
  /** `isScheduled`: the row has an event that arrives later, which lists find by its terms. */
  | { type: 'flow.deleted'; id: string; isScheduled?: true }
  /** A step waits for its turn from now on, in the last place of its pool. */
  | { type: 'turn.asked'; pool: TurnPool; runId: string; stepIndex: number; at: number }
  /**
   * The turn of the step was used: its callback started at `startedAt` at the latest, and the turn counts for a period from
   * that time. No effect if a start is stored.
   */
  | { type: 'turn.started'; runId: string; stepIndex: number; startedAt: number }
  /** The step no longer waits for its turn, or gives the turn back unused. */
  | { type: 'turn.left'; runId: string; stepIndex: number }
  /** A paused run gives its turns back and gets none, but its steps keep their places. Or the run continues. */
  | { type: 'turns.held'; runId: string; isHeld: boolean }
  /** The first steps of the pool get the free turns, and their runs are due. The pool is due when the next turn is free. */
  | { type: 'turns.granted'; poolId: string; at: number }
  /** The new or changed limits of the app, and the names of the limits that no runner registers any more. */
  | {
      type: 'limits.registered'
      namespace: string
      app: string
      limits: readonly StepLimit[]
      dropped: readonly string[]
      at: number
    }
  /** A new API key, session or code. */
  | { type: 'key.created'; key: StoredKey }
  /** Ends a key at a time; one that has ended keeps its time. */
  | { type: 'key.revoked'; namespace: string; id: string; at: number }
  /**
   * Removes an ended run with all rows that belong to it, for good. Its events lose their data unless another run has it, for
   * example a run of the same event, a fork, or the source of this run.
   */
  | {
      type: 'run.erased'
      namespace: string
      runId: string
      /** The budget that began with the run, which is removed with the last run of its chain. */
      budgetId?: string | undefined
      eventIds: readonly string[]
      at: number
    }
  /** A new or changed audit entry. An action of many commits writes its entry with each of them. */
  | { type: 'control.recorded'; action: ControlAction }
  /** The outcome of a bulk action for a run; the first result of a run stays. */
  | { type: 'bulkResult.recorded'; result: BulkResult }

/** Whether the change makes every engine on the store read the catalog again. */
export function changesCatalog(change: Change): boolean {
  return EFFECTS[change.type] === 'catalog' && !(change.type === 'runner.registered' && change.isRepeat)
}

/**
 * The effects of each change besides its rows. `catalog`: every engine on the store reads the catalog again. `announced`: lanes
 * or streams are notified (services/commit/announce). `quiet`: none, except that the stream of its run shows it.
 */
const EFFECTS = {
  'run.created': 'announced',
  'run.moved': 'announced',
  'run.attributed': 'quiet',
  'run.kept': 'quiet',
  'run.progressed': 'announced',
  'run.cancelRequested': 'announced',
  'run.marked': 'quiet',
  'event.delivered': 'quiet',
  'inbox.left': 'quiet',
  'signals.left': 'quiet',
  'update.answered': 'announced',
  'waits.due': 'announced',
  'budget.spent': 'quiet',
  'budget.limited': 'quiet',
  'app.runnerArrived': 'announced',
  'slots.freed': 'announced',
  'startQueue.woken': 'announced',
  'step.recorded': 'quiet',
  'step.moved': 'quiet',
  'step.woken': 'announced',
  'log.written': 'quiet',
  'event.recorded': 'announced',
  'dedupe.claimed': 'quiet',
  'delivery.created': 'announced',
  'delivery.moved': 'announced',
  'delivery.attempted': 'quiet',
  'stream.written': 'announced',
  'stream.merged': 'quiet',
  // Every registration writes it; a new app always comes with a change of its runner.
  'app.seen': 'quiet',
  'runner.registered': 'catalog',
  'runner.forgotten': 'catalog',
  'workflow.registered': 'catalog',
  // Comes with the workflow.
  'definition.changed': 'quiet',
  'workflow.paused': 'catalog',
  'workflow.resumed': 'catalog',
  // Comes with the workflow.
  'workflow.limited': 'announced',
  // Comes with the limits.
  'workflow.throttled': 'announced',
  'workflow.limitsSet': 'catalog',
  'workflow.dropped': 'catalog',
  'workflow.deleted': 'catalog',
  'app.deleted': 'catalog',
  'runner.workflowsDeleted': 'catalog',
  'endpoint.saved': 'catalog',
  'endpoint.deleted': 'catalog',
  'receiver.saved': 'catalog',
  'receiver.deleted': 'catalog',
  'secrets.sealed': 'quiet',
  'turn.asked': 'quiet',
  'turn.started': 'quiet',
  'turn.left': 'quiet',
  'turns.held': 'quiet',
  'turns.granted': 'announced',
  'limits.registered': 'catalog',
  'flow.saved': 'announced',
  'flow.deleted': 'quiet',
  'key.created': 'quiet',
  'key.revoked': 'quiet',
  'run.erased': 'quiet',
  'control.recorded': 'quiet',
  'bulkResult.recorded': 'announced',
  'document.saved': 'quiet',
  'document.deleted': 'quiet',
} as const satisfies Record<Change['type'], 'catalog' | 'announced' | 'quiet'>

type ChangeWith<Effect> = Extract<
  Change,
  { type: keyof { [T in Change['type'] as (typeof EFFECTS)[T] extends Effect ? T : never]: true } }
>

/** The changes that make every engine on the store read the catalog again, heartbeats included. */
export type CatalogChange = ChangeWith<'catalog'>

/** The changes that wake only the stream of their run. */
export type QuietChange = ChangeWith<'quiet'>

/**
 * A fact that the decision on a unit relied on. If it is no longer true at commit, the store writes nothing and throws
 * StaleError.
 */
export type Guard =
  /** The run exists with this fence. */
  | { type: 'run'; runId: string; fence: number }
  /** The run is leased by this engine. */
  | { type: 'leased'; runId: string; owner: string }
  /** No step of the run has a seq above this one. */
  | { type: 'steps'; runId: string; seq: number }
  | { type: 'delivery'; deliveryId: string; fence: number }
  /** The endpoint, or receiver, exists with this version. */
  | { type: 'endpoint'; id: string; version: number }
  | { type: 'receiver'; id: string; version: number }
  /** The flow-control row has this version; 0: there is none. */
  | { type: 'flow'; id: string; version: number }
  /** The limit of the name in the budget has not been set since. */
  | { type: 'limit'; budgetId: string; name: string; revision: number }
  /** Exactly these live runs have the singleton key. A run with a requested cancel is not live. */
  | { type: 'live'; namespace: string; app: string; workflow: string; key: string; runIds: readonly string[] }
  /** Exactly these runs with the singleton key have not ended, whether or not a cancel is requested. */
  | { type: 'unended'; namespace: string; app: string; workflow: string; key: string; runIds: readonly string[] }
  /** No event was put into the inbox after that position of the log. */
  | { type: 'inbox'; inbox: string; after: number }
  /** The inbox of the run has room for an event. */
  | { type: 'inboxRoom'; runId: string }
  /** The same for the key with which runs were started directly. */
  | { type: 'started'; namespace: string; app: string; workflow: string; key: string; runIds: readonly string[] }
  /**
   * No live run watches for the event name at a position after `after`. `matchKey`: counts only the watches with that key;
   * null: only those without a match.
   */
  | { type: 'watchers'; namespace: string; eventName: string; after: number; matchKey?: string | null }
  /** No receiver of any namespace has the slug. */
  | { type: 'slug'; slug: string }
  /** Exactly these steps wait for the event name in the namespace (order does not matter). `matchKey`: as for `watchers`. */
  | {
      type: 'waiters'
      namespace: string
      eventName: string
      waiters: readonly Pick<Waiter, 'runId' | 'stepIndex'>[]
      matchKey?: string | null
    }
  /** The waits, or the watches, with a match for the event name have exactly these lists of paths, by their digests. */
  | { type: 'waitPaths'; namespace: string; eventName: string; digests: readonly string[] }
  | { type: 'watchPaths'; namespace: string; eventName: string; digests: readonly string[] }
  /** No event of that name is in the log after position `after`; `run`: after the run's own position in it. */
  | { type: 'events'; namespace: string; eventName: string; runId: string; after: number | 'run' }
  /** The dedupe id is unclaimed, or its claim ended at or before `now`. `assumed`: a decision on a run assumed this. */
  | { type: 'dedupe'; namespace: string; app: string; dedupeId: string; now: number; assumed?: true }
  /** No run of the namespace was started with this id of a caller. */
  | { type: 'givenId'; namespace: string; givenId: string }
  /** The event started no run of the workflow. */
  | { type: 'unstarted'; eventId: string; app: string; workflow: string }
  /** The catalog has not changed since this revision. */
  | { type: 'catalog'; revision: number }
  /** The runner has not registered since. */
  | { type: 'runner'; namespace: string; app: string; runnerId: string; lastSeenAt: number }
  /** No live run is pinned to the runner. */
  | { type: 'unpinned'; namespace: string; app: string; runnerId: string }
  /** The workflow is paused, whether or not it is registered. */
  | { type: 'paused'; namespace: string; app: string; workflow: string }
  /** The workflow is registered. */
  | { type: 'registered'; namespace: string; app: string; workflow: string }
  /** No run of the workflow, or of any workflow of the app, is in flight. */
  | { type: 'idle'; namespace: string; app: string; workflow?: string }
  /** The namespace has at most `most` of these. */
  | { type: Counted; namespace: string; most: number }
  | DocumentGuard

/** The resources of a namespace that guards count. */
export type Counted = 'apps' | 'workflows' | 'runners' | 'endpoints' | 'receivers'

export interface Unit {
  guards: Guard[]
  changes: Change[]
}
