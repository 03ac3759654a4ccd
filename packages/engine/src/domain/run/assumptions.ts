// The assumptions of a decision about other rows: which steps wait for an event name, which events of a name came since the run
// began, and so on. Without a read, a decision assumes the common case, which is that there are none, and guards that. When the
// guard fails, the service reads the rows and decides again (services/commit/decide-and-commit).

import type { BudgetLine } from '../model/budget/budget.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { Change, Guard } from '../model/change.ts'
import type { Event, MatchPaths, Waiter, Watcher } from '../model/event.ts'
import type { FlowRow } from '../model/flow-row.ts'
import type { Run } from '../model/run.ts'
import type { Workflow } from '../model/workflow.ts'
import type { RunState } from './state.ts'

/** An event with its position in the log. */
export interface LoggedEvent {
  event: Event
  position: number
}

/** Live runs that watch for an event, up to position `after`. */
export interface Watches {
  watchers: readonly Watcher[]
  after: number
  /** Watches with a match are included: there are more lists of paths than are looked up. */
  isWhole?: true
}

export interface Assumptions {
  /** By event name: its waits, or those without a match if `paths` has the name. A missing name is assumed to have none. */
  waiters: ReadonlyMap<string, readonly Waiter[]>
  /** By `matchName`: the lists of paths of the waits, or the watches, with a match. A missing name is assumed to have none. */
  paths: ReadonlyMap<string, readonly MatchPaths[]>
  /** By `matchName` with a key: the waits that have the key. Never assumed: a question fetches them. */
  matchedWaiters: ReadonlyMap<string, readonly Waiter[]>
  /** The same for the watches, as in `watchers`. */
  matchedWatchers: ReadonlyMap<string, Watches>
  /** By event name: events since the run was created, oldest first, up to log position `after`; `run`: none were found. */
  events: ReadonlyMap<string, { events: readonly LoggedEvent[]; after: number | 'run' }>
  /** Flow-control rows by id. A missing one is assumed not to exist; `null` was read and does not exist. */
  flow: ReadonlyMap<string, FlowRow | null>
  /** By event name: the watches, or those without a match unless `isWhole`. A missing name is assumed to have none. */
  watchers: ReadonlyMap<string, Watches>
  /** By `liveKey`: ids of the live runs that share the key. A missing key is assumed to have none. */
  live: ReadonlyMap<string, readonly string[]>
  /** By `dedupeName`: the event that claimed the dedupe id, null if that is not known. A missing id is assumed to be free. */
  dedupes: ReadonlyMap<string, string | null>
  /** Runs whose inboxes are full. A missing run is assumed to have room. */
  full: ReadonlySet<string>
  /** Other runs that the decision ends, by id. Never assumed: a question fetches them. */
  runs: ReadonlyMap<string, RunState>
  /** By id of a run that a step waits for: the newest run of its chain, or null. Never assumed: a question fetches it. */
  newest: ReadonlyMap<string, Run | null>
  /** The lines of the budgets that the run is under; absent: not read yet. Never assumed: a question fetches them. */
  budgets?: readonly BudgetLine[] | undefined
  /** By arrival: whether the limiter gave a token. Never assumed: one question fetches it. */
  limiterAnswers: ReadonlyMap<string, boolean>
  /** The time of the decision, which it keeps over several turns of the event loop. */
  now?: number | undefined
  /** The catalog was read again for this decision, because a guard found it out of date. */
  isCatalogFresh?: boolean
}

/** The key of waits or watches with a match: of all for an event name, or only those with a key. */
export function matchName(kind: 'waiters' | 'watchers', eventName: string, matchKey = ''): string {
  return `${kind} ${matchKey} ${eventName}`
}

/** The key in `Assumptions.dedupes` of a dedupe id. */
export function dedupeName({ app, dedupeId }: { app: string; dedupeId: string }): string {
  return JSON.stringify([app, dedupeId])
}

/** Shared by all decisions that need nothing else, which is nearly all of them. */
const NOTHING: ReadonlyMap<string, never> = new Map<string, never>()

const NONE: ReadonlySet<never> = new Set<never>()

/** The assumptions of a first try: nothing was read. */
export function noAssumptions(): Assumptions {
  return {
    waiters: NOTHING,
    paths: NOTHING,
    matchedWaiters: NOTHING,
    matchedWatchers: NOTHING,
    events: NOTHING,
    flow: NOTHING,
    watchers: NOTHING,
    live: NOTHING,
    dedupes: NOTHING,
    full: NONE,
    runs: NOTHING,
    newest: NOTHING,
    limiterAnswers: NOTHING,
  }
}

/**
 * The guard of a decision that reads the catalog: registrations that another engine acknowledged earlier must count. No guard
 * is needed where only this engine changes the catalog. None is set after the catalog was read again for the decision either:
 * otherwise a steady stream of registrations could delay the decision forever.
 */
export function catalogGuards({ revision }: CatalogView, { isCatalogFresh }: Assumptions): Guard[] {
  return revision === undefined || isCatalogFresh ? [] : [{ type: 'catalog', revision }]
}

/**
 * The guard of a decision that starts something of the workflow without a guard of the whole catalog: the workflow was not
 * deleted since.
 */
export function registeredGuards({ isCatalogFresh }: Assumptions, workflow: Workflow): Guard[] {
  const { namespace, app, name } = workflow
  return isCatalogFresh ? [{ type: 'registered', namespace, app, workflow: name }] : []
}

/** Assumptions that include the flow-control rows that the decision itself has written. */
export interface OwnAssumptions extends Assumptions {
  /** The same map as `flow`, once the decision has written a row. */
  written?: Map<string, FlowRow | null>
}

/** State of a row that the decision itself has deleted. */
export const EMPTY_STATE = '{}'

/**
 * Records the flow-control rows that `changes` write, for the rest of the same decision. They keep the version that was read, 0
 * if there was none: their guards compare it with the stored row.
 */
export function noteWritten(assumptions: OwnAssumptions, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.type === 'flow.saved') {
      const version = assumptions.flow.get(change.row.id)?.version ?? 0
      writtenBy(assumptions).set(change.row.id, { ...change.row, version })
    } else if (change.type === 'flow.deleted') {
      const row = assumptions.flow.get(change.id)
      if (row) writtenBy(assumptions).set(change.id, { ...row, state: EMPTY_STATE })
    }
  }
}

/** The decision's own copy of the map, made at its first write. */
function writtenBy(assumptions: OwnAssumptions): Map<string, FlowRow | null> {
  if (!assumptions.written) {
    assumptions.written = new Map(assumptions.flow)
    assumptions.flow = assumptions.written
  }
  return assumptions.written
}
