// The tables of flow control: schedules, open buffers, claimed idempotency keys, events that arrive later, early callbacks, and the
// turns of fairness keys.

import type { Missed } from '../../../domain/arrival/schedule/missed.ts'
import type { BudgetLine } from '../../../domain/model/budget/budget.ts'
import type { FlowRow } from '../../../domain/model/flow-row.ts'
import { derived, flag, integer, named, optional, real, since, text } from '../description/column.ts'
import { table } from '../description/table.ts'
import { NEWEST_OF_CHAIN } from './runs.ts'

/** Schedules with a next instant. A lease moves it by some seconds. */
export const SCHEDULES = "policy IN ('cron', 'schedule') AND available_at IS NOT NULL"

/** The rows of callbacks that arrived before their runs waited for them; the key is the run's id. */
export const EARLY_CALLBACKS = "policy = 'callbacks'"

export const FLOW_ROWS = table<FlowRow>()('flow_rows', {
  key: ['id'],
  fixed: {
    id: text,
    namespace: text,
    app: text,
    workflow: text,
    policy: text,
    key: text,
    version: integer,
    availableAt: optional(integer),
    leaseOwner: optional(text),
    dueAt: optional(integer),
    expiresAt: optional(integer),
    state: text,
    // Lists find schedules with missed instants by it.
    missedUntil: derived(since(2, optional(integer)), missedUntil),
  },
  indexes: {
    flow_rows_available: { on: 'available_at', where: 'available_at IS NOT NULL' },
    flow_rows_of: { on: 'namespace, app, workflow, policy' },
    flow_rows_listed: { on: 'namespace, policy, due_at, id', where: 'due_at IS NOT NULL' },
    flow_rows_schedules: { on: 'namespace, key', where: "policy = 'schedule'", since: 2 },
    flow_rows_next: { on: 'namespace, available_at, id', where: SCHEDULES, since: 2 },
    flow_rows_missed: { on: 'namespace, missed_until, id', where: 'missed_until IS NOT NULL', since: 2 },
    // Early callbacks are removed with their run, by its id.
    flow_rows_callbacks: { on: 'key', where: EARLY_CALLBACKS, since: 3 },
    // Retention finds rows that are over by it.
    flow_rows_expiring: { on: 'expires_at', where: 'expires_at IS NOT NULL' },
  },
})

/** A term of a scheduled event, by which lists find it. */
interface ScheduledTerm {
  namespace: string
  term: string
  dueAt: number
  rowId: string
}

export const SCHEDULED_TERMS = table<ScheduledTerm>()('scheduled_terms', {
  key: ['namespace', 'term', 'due_at', 'row_id'],
  since: 3,
  fixed: { namespace: text, term: text, dueAt: integer, rowId: text },
  indexes: { scheduled_terms_of: { on: 'row_id, term' } },
})

/** The last instant that the schedule missed. Its event's data can be long, and is read only if it may have one. */
function missedUntil({ policy, state }: FlowRow): number | undefined {
  if ((policy !== 'cron' && policy !== 'schedule') || !state.includes('"missed"')) return undefined
  return (JSON.parse(state) as { missed?: Missed }).missed?.until
}

/** A key of `fairness` that waits in the queue of a slot or a throttle, or waited until just now (write/fair-turns.ts). */
interface FairTurn {
  queue: string
  fairKey: string
  /** The virtual time of the key's next turn. */
  tag: number
  /** The virtual time of one turn: 1/weight of the run that joined last. */
  cost: number
  /** Orders keys of one tag. */
  joinedAt: number
}

export const FAIR_TURNS = table<FairTurn>()('fair_turns', {
  key: ['queue', 'fair_key'],
  since: 3,
  fixed: { queue: text, fairKey: text },
  moving: { tag: real, cost: real, joinedAt: integer },
  indexes: { fair_turns_next: { on: 'queue, tag, joined_at, fair_key' } },
})

/** A step that waits for its turn, or a turn that counts. */
interface LimitTurn {
  /** Id of the flow-control row of the limit and the key. */
  pool: string
  /** The order in which steps get their turns. */
  place: number
  runId: string
  stepIndex: number
  askedAt: number
  grantedAt?: number
  /** The latest time at which the callback started; absent: it may not have started. */
  startedAt?: number
  /** The run is paused: other steps go first. */
  held?: boolean
}

/** The turns that steps wait for, in their order. */
export const TURN_WAITS = 'granted_at IS NULL AND held IS NULL'
/** The turns that may count. */
export const TURN_TAKEN = 'granted_at IS NOT NULL'
/** The turn of a step that waits for it, or has not used it. */
export const TURN_OPEN = 'started_at IS NULL'

export const LIMIT_TURNS = table<LimitTurn>()('limit_turns', {
  key: ['pool', 'place'],
  since: 3,
  fixed: {
    pool: text,
    place: integer,
    runId: text,
    stepIndex: named('idx', integer),
    askedAt: integer,
    grantedAt: optional(integer),
    startedAt: optional(integer),
    held: flag,
  },
  indexes: {
    limit_turns_waiting: { on: 'pool, place', where: TURN_WAITS },
    limit_turns_taken: { on: 'pool, started_at', where: TURN_TAKEN },
    limit_turns_open: { on: 'run_id, idx', where: TURN_OPEN },
  },
})

/**
 * The budgets of runs: a row for each name. Dedicated statements add to the sums, so that runs which spend at the same time do
 * not delay each other.
 */
export const BUDGETS = table<BudgetLine>()('budgets', {
  key: ['id', 'name'],
  since: 3,
  fixed: {
    id: text,
    name: text,
    // `limit` is a word of SQL.
    limit: named('spend_limit', optional(real)),
    whole: integer,
    billionths: integer,
    revision: integer,
  },
})

/** Removes the budgets of chains whose first and newest run are gone; ids of budgets follow. */
export const DROP_BUDGETS = `DELETE FROM budgets WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = budgets.id)
  AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.chain_id = budgets.id AND ${NEWEST_OF_CHAIN}) AND id IN`
