// The schedules of workflows (docs/events.md#schedules): one flow-control row for each cron trigger. The commit of a
// registration creates and deletes the rows; the timers lane claims a row when its next instant is due.

import type { Change, Guard } from '../model/change.ts'
import type { UnitWithQuestions } from '../model/decision.ts'
import { invalid } from '../model/errors.ts'
import { type FlowRow, firstVersion, flowRowId } from '../model/flow-row.ts'
import type { Workflow } from '../model/workflow.ts'
import type { Assumptions } from '../run/assumptions.ts'
import { cronRun } from '../run/create.ts'
import { CronError, Schedule, timezoneOf } from '../text/cron.ts'
import type { DueRow, DueRowDecision } from './due-row.ts'
import { afterSetBack, type Fired, firedAfter, hasFired, nextUnfired } from './schedule/fired.ts'
import { gapOf, type Missed, missedAfter } from './schedule/missed.ts'
import { type Skipped, skippedAfter } from './schedule/skipped.ts'
import { claimSingleton, startAlone } from './singleton.ts'

interface ScheduleState {
  /** The next instant at which a run starts. */
  scheduledAt: number
  lastRunAt?: number
  lastRunId?: string
  /** The last instant for which a run started. */
  lastInstant?: number
  missed?: Missed
  skipped?: Skipped
  /** Future instants that already fired while the clock was ahead. */
  firedAhead?: Fired[]
  paused?: true
  /** The row was due while its workflow did not have the trigger. */
  orphaned?: true
}

/** A row without its trigger is checked again after this time: this engine may not have read the registration yet. */
const ORPHAN_RECHECK_MS = 1000

/** A schedule as the API lists it. */
export interface ScheduleView {
  /** The cron as it was registered. */
  cron: string
  timezone: string
  nextRunAt: number
  lastRunAt?: number
  lastRunId?: string
  missed?: Missed
  /** The instants since the last run at which a singleton had a live run, or those before the last run. */
  skipped?: Skipped
  /** The schedule starts no runs until it is resumed. */
  paused?: true
}

/** Checks the cron expression of a registration. Throws `invalid_request` naming the field. */
export function checkCron(field: string, cron: string): void {
  try {
    new Schedule(cron)
  } catch (error) {
    if (error instanceof CronError) throw invalid(field, error.message)
    throw error
  }
}

/** The distinct cron expressions of a workflow. */
export function cronsOf(workflow: Pick<Workflow, 'triggers'> | undefined): Set<string> {
  return new Set(workflow?.triggers.flatMap(({ cron }) => (cron === undefined ? [] : [cron])))
}

/**
 * Guards and changes of the schedules whose workflows `changes` register or drop. A schedule that stays keeps its row, and so
 * its next instant and its last run. The row of a paused schedule stays even without the schedule: if that comes back, it is
 * paused. An expression that replaces a paused one is paused too.
 */
export function scheduleChanges(options: {
  changes: readonly Change[]
  /** The workflow's previous registration. */
  before(app: string, name: string): Workflow | undefined
  assumptions: Assumptions
  now: number
}): UnitWithQuestions {
  const { changes, before, assumptions, now } = options
  const unit: UnitWithQuestions = { guards: [], changes: [], questions: [] }
  for (const change of changes) {
    if (change.type === 'workflow.registered') {
      const { workflow } = change
      const crons = cronsOf(workflow)
      const replaced = pausedWithout(unit, { earlier: before(workflow.app, workflow.name), kept: crons, assumptions })
      for (const [n, cron] of [...crons].entries()) {
        const row = newRow(workflow, cron, now)
        const stored = assumptions.flow.get(row.id)
        unit.guards.push({ type: 'flow', id: row.id, version: stored?.version ?? 0 })
        if (stored) continue
        const inPlaceOf = replaced.get(n)
        unit.changes.push(inPlaceOf ? withPause(row, true, now) : { type: 'flow.saved', row })
        if (inPlaceOf) unit.changes.push({ type: 'flow.deleted', id: inPlaceOf.id })
      }
    } else if (change.type === 'workflow.dropped') {
      pausedWithout(unit, { earlier: before(change.app, change.name), kept: new Set(), assumptions })
    }
  }
  return unit
}

/** Starts the run of the due instant, unless a singleton skips it, and sets the row to the next instant. */
export function decideDueSchedule(due: DueRow): DueRowDecision | undefined {
  const { row, workflow, suspended, now, report, catalog, assumptions } = due
  const { scheduledAt, orphaned, paused, ...last } = stateOf(row)
  if (paused) return undefined
  const guards: Guard[] = [{ type: 'flow', id: row.id, version: row.version }]
  if (scheduledAt > now) {
    // The clock was set back. A row without a lease was saved meanwhile with its next instant.
    if (row.leaseOwner === undefined) return undefined
    return { guards, changes: [savedRow(row, setBack(row.key, { ...last, scheduledAt }, now))] }
  }
  if (!workflow || !cronsOf(workflow).has(row.key)) {
    const once = { ...last, scheduledAt, orphaned: true } as const
    if (!orphaned) return { guards, changes: [savedRow(row, once, now + ORPHAN_RECHECK_MS)] }
    const dropped = 'the workflow no longer has the schedule'
    return { guards, changes: [{ type: 'flow.deleted', id: row.id }], dropped }
  }
  const schedule = new Schedule(row.key)
  // Only the last of several missed instants starts a run.
  const instant = schedule.latest(scheduledAt, now)
  // A schedule without a next instant is refused at registration.
  const { missed: earlier, lastRunAt, lastInstant, firedAhead } = last
  const next = nextUnfired(schedule, now, firedAhead) as number
  const until = suspended ? instant : instant > scheduledAt ? schedule.latest(scheduledAt, instant - 1) : undefined
  const cause = suspended ? 'suspended' : 'no-engine'
  const gap = until === undefined ? undefined : gapOf(schedule, { from: scheduledAt, until }, cause)
  const missed = missedAfter({ missed: earlier, lastAt: lastRunAt }, gap)
  if (suspended || hasFired(instant, firedAhead))
    return { guards, changes: [savedRow(row, { ...last, scheduledAt: next, ...missed })] }
  const run = cronRun({ workflow, cron: row.key, scheduledAt: instant, previousAt: lastInstant, now, report })
  const record = { ...missed, ...firedAfter({ ...missed, firedAhead }, now) }
  const { liveRunId, questions, ...unit } = claimSingleton(run, { workflow, report, catalog, assumptions, now })
  guards.push(...unit.guards)
  const { skipped } = last
  if (liveRunId !== undefined) {
    const sinceLast = skipped && skipped.until > (lastRunAt ?? 0) ? skipped : undefined
    const state = { ...last, scheduledAt: next, ...record, skipped: skippedAfter(sinceLast, instant, liveRunId) }
    return { guards, changes: [savedRow(row, state)] }
  }
  const fired = { lastRunAt: now, lastRunId: run.id, lastInstant: instant }
  const state = { scheduledAt: next, ...fired, ...record, ...(skipped && { skipped }) }
  return { questions, guards, changes: [...unit.changes, { type: 'run.created', run }, savedRow(row, state)] }
}

/**
 * The row of a schedule after a pause or a resume. After a resume, the instants of the pause do not fire later, and no fired
 * instant comes again if the clock was set back. A schedule that was not paused keeps a due instant.
 */
export function withPause(row: FlowRow, paused: boolean, now: number): Change {
  const { paused: wasPaused, ...state } = stateOf(row)
  if (paused) return savedRow(row, { ...state, paused: true })
  if (!wasPaused) return savedRow(row, state)
  return savedRow(row, setBack(row.key, state, now))
}

/** The schedule with its next instant computed from `now`, after the clock was set back. */
function setBack(cron: string, state: ScheduleState, now: number): ScheduleState {
  const { scheduledAt, missed, firedAhead, ...rest } = state
  const before = { nextAt: scheduledAt, lastAt: rest.lastRunAt, missed, firedAhead }
  const { nextAt = scheduledAt, ...record } = afterSetBack(new Schedule(cron), before, now)
  return { ...rest, scheduledAt: nextAt, ...record }
}

/**
 * The run of a schedule that is fired by hand, with a fresh id, and the schedule's row: the next instant stays.
 * @throws EngineError `already_running`.
 */
export function firedByHand(
  options: Pick<DueRow, 'row' | 'catalog' | 'assumptions' | 'now' | 'report'> & { workflow: Workflow; runId: string },
): DueRowDecision {
  const { row, runId, ...facts } = options
  const { workflow, now, report } = facts
  const state = stateOf(row)
  const instant = { scheduledAt: now, previousAt: state.lastInstant }
  const run = { ...cronRun({ workflow, cron: row.key, ...instant, now, report }), id: runId }
  const fired = savedRow(row, { ...state, lastRunAt: now, lastRunId: runId })
  const unit = startAlone({ run, changes: [{ type: 'run.created', run }, fired] }, facts)
  return { ...unit, guards: [{ type: 'flow', id: row.id, version: row.version }, ...unit.guards] }
}

/** The schedule of a row. */
export function scheduleView(row: FlowRow): ScheduleView {
  const { scheduledAt, orphaned: _, firedAhead: __, lastInstant: ___, ...last } = stateOf(row)
  return { cron: row.key, timezone: timezoneOf(row.key), nextRunAt: scheduledAt, ...last }
}

function newRow({ namespace, app, name }: Workflow, cron: string, now: number): FlowRow {
  const of = { namespace, app, workflow: name, policy: 'cron', key: cron } as const
  const id = flowRowId(of)
  // A schedule without a next instant was refused earlier (`checkCron`).
  const scheduledAt = new Schedule(cron).next(now) as number
  const state: ScheduleState = { scheduledAt }
  const version = firstVersion(`${id} ${now}`)
  return { id, ...of, version, availableAt: scheduledAt, state: JSON.stringify(state) }
}

/**
 * Deletes the rows of schedules that the workflow no longer has. Returns the rows that stay because they are paused, by their
 * place.
 */
function pausedWithout(
  unit: UnitWithQuestions,
  {
    earlier,
    kept,
    assumptions,
  }: { earlier: Workflow | undefined; kept: ReadonlySet<string>; assumptions: Assumptions },
): ReadonlyMap<number, FlowRow> {
  const paused = new Map<number, FlowRow>()
  for (const [n, key] of [...cronsOf(earlier)].entries()) {
    if (!earlier || kept.has(key)) continue
    const { namespace, app, name: workflow } = earlier
    const id = flowRowId({ namespace, app, workflow, policy: 'cron', key })
    const row = assumptions.flow.get(id)
    if (row === undefined) unit.questions.push({ type: 'flow', id })
    if (!row) continue
    unit.guards.push({ type: 'flow', id, version: row.version })
    if (stateOf(row).paused) paused.set(n, row)
    else unit.changes.push({ type: 'flow.deleted', id })
  }
  return paused
}

/** Saves the row. A paused schedule is never due. Any engine's lease on the row ends. */
function savedRow(stored: FlowRow, state: ScheduleState, availableAt = state.scheduledAt): Change {
  const { leaseOwner: _, availableAt: __, ...row } = stored
  const moved = { version: row.version + 1, state: JSON.stringify(state) }
  return { type: 'flow.saved', row: { ...row, ...moved, ...(state.paused ? {} : { availableAt }) } }
}

function stateOf(row: FlowRow): ScheduleState {
  return JSON.parse(row.state) as ScheduleState
}
