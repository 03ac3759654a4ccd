// The table of runs, and the table of the events that cancel them.

import { type EventMatch, FOLLOW_ON_KINDS } from '@perdure/protocol'
import { runDeadline } from '../../../domain/holds/timeouts.ts'
import {
  type EndedStatus,
  isTerminal,
  type Run,
  type RunKind,
  runDestination,
  runDurationMs,
  runKind,
} from '../../../domain/model/run.ts'
import { errorFingerprint } from '../../../domain/view/errors/error-fingerprint.ts'
import {
  derived,
  flag,
  integer,
  json,
  matchJson,
  optional,
  parts,
  payload,
  real,
  since,
  text,
  unique,
  unmapped,
} from '../description/column.ts'
import { table } from '../description/table.ts'

/** The columns, in addition to `holds`, by which slots are counted. */
export const SLOT_COLUMNS = ['slot1', 'slot2', 'slot3'] as const

const HELD_BY_LEASE = 'lease_owner IS NOT NULL AND leased_without_slots IS NULL'
/**
 * The condition that the run holds the slot of a column: while it is leased, unless the lease took none. A kept slot is held from
 * the start of the run, or its creation, to its end (domain/holds/kept-slots.ts). Kept slots are in the first columns.
 */
const holding = (slot: (typeof SLOT_COLUMNS)[number]) =>
  `${slot} IS NOT NULL AND ((${HELD_BY_LEASE})
    OR (kept_slots >= ${SLOT_COLUMNS.indexOf(slot) + 1} AND finished_at IS NULL
      AND (started_at IS NOT NULL OR slots_from_birth = 1)))`
export const HOLDS_SLOT = Object.fromEntries(SLOT_COLUMNS.map(slot => [slot, holding(slot)])) as Readonly<
  Record<(typeof SLOT_COLUMNS)[number], string>
>

/** The scheduled runs, in two parts with separate indexes. A run that is leased at its creation enters only the second. */
export const SCHEDULED = 'available_at IS NOT NULL AND lease_owner IS NULL'
export const LEASED = 'available_at IS NOT NULL AND lease_owner IS NOT NULL'
/** The live runs that are not in `LEASED`. A run that is leased at its creation and ends under that lease never enters. */
export const IDLE = 'finished_at IS NULL AND (lease_owner IS NULL OR available_at IS NULL)'
/** The part of `SCHEDULED` with a priority. */
export const RANKED = `${SCHEDULED} AND priority IS NOT NULL`
/** Runs that a claim takes, from a given time on, whether or not there is room for them. */
export const ROOMLESS = 'roomless_at IS NOT NULL AND lease_owner IS NULL'
/** The order in which a queue of held runs is served: the log's order. Runs that began between two events are ordered by id. */
export const QUEUE_ORDER = 'coalesce(priority, 0) DESC, log_position, id'
/** The same as values that rise. */
export const QUEUE_PLACE = '-coalesce(priority, 0), log_position, id'
const QUEUE_ORDER_BEFORE = 'coalesce(priority, 0) DESC, id'

/** The run of a chain that no other run of it continues. */
export const NEWEST_OF_CHAIN = 'chain_id IS NOT NULL AND continued_as IS NULL'

const WAITS_FOR_SLOT = 'waits_for_slot IS NOT NULL AND lease_owner IS NULL'
const HAS_FAIR_KEY = 'fair_key IS NOT NULL'
const WAITS_FOR_START = 'start_queue IS NOT NULL AND lease_owner IS NULL'

/** Forks and on-failure runs of a run that an event started: they also have its payload. */
export const FOLLOWS_RUN_OF_EVENT = 'event_id IS NULL AND trigger_id IS NOT NULL'

/** The kinds of runs as SQL. A run of a handler has no kind in its row, so that the indexes of kinds hold only the others. */
export const OF_HANDLER = 'kind IS NULL'
export const ofKind = (kind: Exclude<RunKind, 'run'>) => `kind = '${kind}'`
/** Runs that follow another. A list: with `IS NOT NULL` SQLite takes an index without the kind. */
export const FOLLOW_ON = `kind IN (${FOLLOW_ON_KINDS.map(kind => `'${kind}'`).join(', ')})`
const OF_A_KIND = 'kind IS NOT NULL'
/** Gives on-failure runs of older versions their kind. */
export const SET_KINDS = `UPDATE runs SET kind = 'onFailure' WHERE failure IS NOT NULL;`

/** A column by which lists filter, in the indexes that lists walk: it never changes. */
const ALSO_FILTERED = 'trigger_kind'

/** The columns that groups of failures are counted by, in the order of the counts. */
const FAILURES = 'namespace, finished_at, error_key, app, workflow, id'

export const RUNS = table<Run>()('runs', {
  fixed: {
    id: unique(text),
    namespace: text,
    workflow: text,
    app: text,
    createdAt: integer,
    triggerKind: text,
    eventName: optional(text),
    eventId: optional(text),
    eventIds: since(2, optional(json)),
    // The record of an event finds the run of a buffer by it.
    firstEventId: derived(since(2, optional(text)), ({ eventIds }: Run) => eventIds?.[0]),
    collected: since(3, optional(json)),
    cron: optional(text),
    replayOf: optional(text),
    continuedFrom: since(3, optional(text)),
    chainId: since(3, optional(text)),
    parentRunId: optional(text),
    parentStepIndex: optional(integer),
    startedBy: since(3, optional(json)),
    startAt: since(3, optional(integer)),
    runner: optional(text),
    trigger: parts<Run['trigger']>({ id: optional(text), name: text }),
    trace: optional(text),
    generation: since(3, optional(integer)),
    engineEvents: since(3, optional(integer)),
    failure: optional(json),
    cleanupOf: since(3, optional(text)),
    budgets: since(3, optional(json)),
    input: payload,
    singletonKey: optional(text),
    startKey: since(3, optional(text)),
    // Dedicated statements set these three.
    awaited: since(3, flag),
    signalled: since(3, flag),
    inbox: since(3, optional(text)),
    cancelOn: optional(json),
    holds: optional(json),
    priority: optional(real),
    // A dedicated statement changes it: most runs have none.
    attributes: since(2, optional(json)),
    progress: since(2, optional(json)),
    // Claims divide their room by it.
    destination: derived(text, runDestination),
    slot1: derived(optional(text), ({ holds }: Run) => holds?.slots?.[0]?.id),
    slot2: derived(optional(text), ({ holds }: Run) => holds?.slots?.[1]?.id),
    slot3: derived(optional(text), ({ holds }: Run) => holds?.slots?.[2]?.id),
    keptSlots: derived(since(3, optional(integer)), ({ holds }: Run) => keptCount(holds)),
    fairKey: derived(since(3, optional(text)), ({ holds }: Run) => holds?.fairness?.key),
    slotsFromBirth: derived(since(3, flag), ({ holds }: Run) => holds?.fromBirth),
    // The position of the newest event when the run was inserted: its waits look back to there (docs/events.md#waits).
    logPosition: unmapped(integer),
    // A run that looks back beyond its creation sees only the events in its inbox up to here.
    inboxUntil: unmapped(since(3, optional(integer))),
    kind: derived(since(3, optional(text)), kindOfRow),
    // Set by an end that is committed behind the mark of the roll-ups, until they count it.
    late: unmapped(since(2, flag)),
    // Set by the end of a run whose workflow has its own retention.
    keptUntil: unmapped(since(3, optional(integer))),
  },
  moving: {
    status: text,
    fence: integer,
    availableAt: optional(integer),
    leaseOwner: optional(text),
    waitsForSlot: optional(text),
    startQueue: optional(text),
    leasedWithoutSlots: flag,
    cancelRequested: flag,
    skipsCleanup: since(3, flag),
    // The arrival of a runner finds the runs that lacked one through a small index.
    heldForRunner: derived(flag, isHeldForRunner),
    roomlessAt: derived(optional(integer), roomlessAt),
    attempt: integer,
    transportTries: integer,
    lastFailure: optional(json),
    lastPass: since(2, optional(json)),
    startedAt: optional(integer),
    startedSeq: optional(integer),
    finishedAt: optional(integer),
    finishedSeq: optional(integer),
    // Only the list's order uses it; a run without a duration counts as 0.
    durationMs: derived(integer, (run: Run) => runDurationMs(run) ?? 0),
    waitingFor: optional(json),
    // Lists are filtered by these two.
    waitingKind: derived(optional(text), waitingKind),
    // A new limit finds the runs that wait for it.
    waitsForBudget: derived(since(3, optional(text)), ({ waitingFor }: Run) => waitingFor?.budgetId),
    errorKey: derived(optional(text), errorFingerprint),
    continuedAs: since(3, optional(text)),
    error: optional(json),
    result: optional(text),
  },
  indexes: {
    runs_leased: { on: 'available_at', where: LEASED },
    runs_scheduled: { on: 'available_at', where: SCHEDULED, until: 3 },
    runs_destined: { on: 'destination, available_at, priority', where: SCHEDULED, until: 3 },
    runs_ranked: { on: 'destination, priority, available_at', where: RANKED, until: 3 },
    // Runs of the same time follow the order of the log. SQLite has them in the order of their insertion, which is the same.
    runs_due: { on: 'available_at', postgres: '(available_at, log_position)', where: SCHEDULED, since: 3 },
    runs_due_for: {
      on: 'destination, available_at, priority',
      postgres: '(destination, available_at, log_position, priority)',
      where: SCHEDULED,
      since: 3,
    },
    runs_due_by_rank: {
      on: 'destination, priority, available_at',
      postgres: '(destination, priority, available_at, log_position)',
      where: RANKED,
      since: 3,
    },
    runs_roomless: { on: 'roomless_at', where: ROOMLESS },
    ...Object.fromEntries(
      SLOT_COLUMNS.flatMap(slot => [
        [`runs_in_${slot}`, { on: slot, where: `${slot} IS NOT NULL AND ${HELD_BY_LEASE}`, until: 3 }],
        [`runs_holding_${slot}`, { on: slot, where: HOLDS_SLOT[slot], since: 3 }],
      ]),
    ),
    runs_waiting_for_slot: { on: `waits_for_slot, ${QUEUE_ORDER_BEFORE}`, where: WAITS_FOR_SLOT, until: 3 },
    runs_in_slot_queue: { on: `waits_for_slot, ${QUEUE_ORDER}`, where: WAITS_FOR_SLOT, since: 3 },
    runs_in_start_queue: { on: `start_queue, ${QUEUE_ORDER_BEFORE}`, where: WAITS_FOR_START, until: 3 },
    runs_in_throttle_queue: { on: `start_queue, ${QUEUE_ORDER}`, where: 'start_queue IS NOT NULL', since: 3 },
    // The runs of a fairness key in a queue.
    runs_by_turn_for_slot: {
      on: `waits_for_slot, fair_key, ${QUEUE_ORDER}`,
      where: `${WAITS_FOR_SLOT} AND ${HAS_FAIR_KEY}`,
      since: 3,
    },
    runs_by_turn_for_start: {
      on: `start_queue, fair_key, ${QUEUE_ORDER}`,
      where: `${WAITS_FOR_START} AND ${HAS_FAIR_KEY}`,
      since: 3,
    },
    runs_started: { on: 'namespace, id' },
    // A list with two filters walks the index of one and finds the other there too, without the rows (reads/runs/walks.ts).
    runs_by_app: { on: 'namespace, app, id', until: 2 },
    runs_of_app: { on: `namespace, app, id, ${ALSO_FILTERED}, workflow`, since: 2 },
    runs_by_workflow: { on: 'namespace, workflow, id', until: 2 },
    runs_of_workflow: { on: `namespace, workflow, id, ${ALSO_FILTERED}, app`, since: 2 },
    runs_by_status: { on: 'namespace, status, id, app', until: 2 },
    runs_of_status: { on: `namespace, status, id, ${ALSO_FILTERED}, app, workflow`, since: 2 },
    runs_by_duration: { on: 'namespace, duration_ms, id', until: 2 },
    runs_of_duration: { on: `namespace, duration_ms, id, ${ALSO_FILTERED}, app, workflow, status`, since: 2 },
    runs_of_cron: { on: 'namespace, id', where: `trigger_kind = 'cron'`, until: 2 },
    runs_of_crons: { on: 'namespace, id, app, workflow', where: `trigger_kind = 'cron'`, since: 2 },
    runs_of_event: { on: 'event_id, id', where: 'event_id IS NOT NULL' },
    runs_of_buffer: { on: 'first_event_id', where: 'first_event_id IS NOT NULL', since: 2 },
    runs_of_source: { on: 'replay_of, id', where: 'replay_of IS NOT NULL' },
    // The newest run of a chain, which is the only one that no other continues.
    runs_newest_of_chain: { on: 'chain_id', where: NEWEST_OF_CHAIN, since: 3 },
    runs_of_forked_event: { on: 'trigger_id', where: FOLLOWS_RUN_OF_EVENT, since: 2 },
    runs_of_parent: { on: 'parent_run_id, id', where: 'parent_run_id IS NOT NULL', until: 2 },
    runs_of_parent_run: {
      on: `parent_run_id, id, ${ALSO_FILTERED}, namespace, app, workflow`,
      where: 'parent_run_id IS NOT NULL',
      since: 2,
    },
    // A run stays until the runs that clean up after it have ended.
    runs_of_cleanup: { on: 'cleanup_of, finished_at', where: 'cleanup_of IS NOT NULL', since: 3 },
    runs_of_runner: { on: 'namespace, runner, id', where: 'runner IS NOT NULL' },
    runs_waiting_for: { on: 'namespace, waiting_kind, id', where: 'waiting_kind IS NOT NULL', until: 2 },
    runs_of_waiting_kind: {
      on: `namespace, waiting_kind, id, ${ALSO_FILTERED}, app, workflow, status`,
      where: 'waiting_kind IS NOT NULL',
      since: 2,
    },
    // Counts of failure groups walk this index, on SQLite with their runners: the id of a runner may be a URL, which does not fit
    // into an ordered index of PostgreSQL.
    runs_failed: { on: FAILURES, where: 'error_key IS NOT NULL', until: 2 },
    runs_of_failures: {
      on: `${FAILURES}, last_pass`,
      postgres: `(${FAILURES})`,
      where: 'error_key IS NOT NULL',
      since: 2,
    },
    runs_waiting_for_budget: { on: 'waits_for_budget, id', where: 'waits_for_budget IS NOT NULL', since: 3 },
    // Runs that follow another, for lists; the live ones, for counts; and those that failed themselves.
    runs_of_kind: { on: `namespace, kind, id, ${ALSO_FILTERED}, app, workflow, status`, where: OF_A_KIND, since: 3 },
    runs_of_kind_live: {
      on: 'namespace, kind, id, app, workflow, status, waiting_kind, finished_at',
      where: `${OF_A_KIND} AND finished_at IS NULL`,
      since: 3,
    },
    runs_of_kind_failed: {
      on: 'namespace, kind, finished_at, id, error_key',
      where: `${OF_A_KIND} AND error_key IS NOT NULL`,
      since: 3,
    },
    runs_by_error: { on: 'namespace, error_key, id', where: 'error_key IS NOT NULL', until: 2 },
    runs_of_error: {
      on: `namespace, error_key, id, ${ALSO_FILTERED}, app, workflow`,
      where: 'error_key IS NOT NULL',
      since: 2,
    },
    runs_held_for_runner: { on: 'namespace, app', where: 'held_for_runner = 1' },
    // The longest names and keys together do not fit into an entry of an ordered index of PostgreSQL.
    runs_singleton: {
      on: 'namespace, workflow, app, singleton_key',
      postgres: 'USING hash (singleton_key)',
      where: 'singleton_key IS NOT NULL AND finished_at IS NULL',
    },
    runs_started_by_key: {
      on: 'namespace, workflow, app, start_key',
      postgres: 'USING hash (start_key)',
      where: 'start_key IS NOT NULL AND finished_at IS NULL',
      since: 3,
    },
    runs_of_start_key: { on: 'namespace, start_key, id', where: 'start_key IS NOT NULL', since: 3 },
    // Lists of live singletons: a hash cannot be read by namespace.
    runs_of_singletons: {
      on: 'namespace, finished_at, id, app, workflow',
      where: 'singleton_key IS NOT NULL AND finished_at IS NULL',
      since: 2,
    },
    // A runner is not forgotten while a run is pinned to it. A URL does not fit into an ordered index of PostgreSQL.
    runs_pinned: {
      on: 'namespace, app, runner',
      postgres: 'USING hash (runner)',
      where: 'runner IS NOT NULL AND finished_at IS NULL',
    },
    // Retention keeps the events that a live run may look back at.
    runs_looking_back: { on: 'namespace, log_position', where: IDLE },
    // Retention and the roll-ups find ended runs by it.
    runs_ended: { on: 'status, finished_at', where: 'finished_at IS NOT NULL' },
    runs_kept: { on: 'kept_until', where: 'kept_until IS NOT NULL', since: 3 },
    runs_late: { on: 'id', where: 'late = 1', since: 2 },
  },
})

function keptCount(holds: Run['holds']): number | undefined {
  return holds?.slots?.filter(({ kept }) => kept).length || undefined
}

function kindOfRow(run: Run): string | undefined {
  const kind = runKind(run)
  return kind === 'run' ? undefined : kind
}

/** No runner could be reached, or none has registered the workflow of a child. A run that only waits for room is already due. */
function isHeldForRunner({ status, waitingFor }: Run): boolean {
  return (
    (status === 'queued' || status === 'waiting') && waitingFor?.kind === 'runner' && waitingFor.until !== undefined
  )
}

/** An ended run waits for nothing. */
function waitingKind({ status, waitingFor }: Run): string | undefined {
  return isTerminal(status) ? undefined : waitingFor?.kind
}

/** After this time no pass of the run is sent, unless it is resumed: the run ends, or settles its timers. */
function roomlessAt(run: Run): number | undefined {
  if (isTerminal(run.status)) return undefined
  return run.status === 'paused' || run.cancelRequested ? run.availableAt : runDeadline(run)
}

/** One attribute of a run, in its indexed form, with the other columns by which lists filter such runs. */
interface RunAttribute {
  namespace: string
  attribute: string
  runId: string
  app: string
  workflow: string
  /** The status that the run ended with; `live` before, and for a run that an engine without this column has ended. */
  ended: EndedStatus | 'live'
}

export const RUN_ATTRIBUTES = table<RunAttribute>()('run_attributes', {
  key: ['namespace', 'attribute', 'run_id'],
  since: 2,
  fixed: { namespace: text, attribute: text, runId: text, app: text, workflow: text },
  moving: { ended: text },
  indexes: {
    run_attributes_of: { on: 'run_id, attribute' },
    run_attributes_ended: { on: 'namespace, attribute, ended, run_id' },
  },
})

/** An event that cancels a live run. */
export interface RunWatch {
  namespace: string
  eventName: string
  runId: string
  /** The filter of the event's data. */
  condition?: string
  match?: EventMatch
  /** The key by which an event finds a watch with `match`. */
  matchKey?: string
  /** The last time at which an event cancels the run. */
  until?: number
}

export const RUN_WATCHES = table<RunWatch>()('run_watches', {
  position: 'position',
  fixed: {
    namespace: text,
    eventName: text,
    runId: text,
    condition: optional(text),
    match: since(3, optional(matchJson)),
    matchKey: since(3, optional(text)),
    until: since(3, optional(integer)),
  },
  indexes: {
    run_watches_named: { on: 'namespace, event_name, position', until: 3 },
    // Watches without a match have no key, and are ordered by their positions.
    run_watches_by_key: { on: 'namespace, event_name, match_key, position', since: 3 },
    run_watches_of: { on: 'run_id' },
  },
})
