// Schedules that are made through the API (docs/events.md#schedules-by-api): a flow-control row stores the schedule, the event
// that it sends, and its next instant. services/event/schedules makes the event arrive when the row is due.

import type { CatchUp } from '@perdure/protocol'
import type { Change } from '../../model/change.ts'
import { type FlowRow, firstVersion, flowRowId } from '../../model/flow-row.ts'
import { splice } from '../../text/json-splice.ts'
import { type JsonText, objectMember } from '../../text/json-text.ts'
import { afterSetBack, type Fired, firedAfter, hasFired, nextUnfired } from './fired.ts'
import { gapOf, type Missed, missedAfter } from './missed.ts'
import { Recurrence, type RecurrenceRule } from './recurrence.ts'
import { type Skipped, skippedAfter } from './skipped.ts'

/** Maximum overdue instants that `catchUp: 'all'` still fires: the oldest, and the newest. */
const MADE_UP_MAX = 1000
/** With `catchUp: 'none'`, an instant does not fire if it is later than this. */
const LATE_MS_MAX = 60_000

/** A schedule as its maker specifies it. */
export interface ScheduleDefinition extends Omit<RecurrenceRule, 'anchor'> {
  /**
   * The zone that the maker gave in addition to the cron expression; the stored expression contains it too. Absent: the
   * expression is stored as it was given.
   */
  givenTimezone?: string
  eventName: string
  eventApp?: string
  eventData?: JsonText
  catchUp: CatchUp
}

export interface EventSchedule extends ScheduleDefinition {
  id: string
  createdAt: number
  /** Absent while it is paused, and after it has ended. */
  nextAt?: number
  paused?: true
  /** The next instant at the time of the pause: no later one has fired, even if the clock was set back. */
  heldAt?: number
  /** Overdue instants that fired in a row under `catchUp: 'all'`. */
  madeUp?: number
  lastAt?: number
  lastEventId?: string
  lastRunId?: string
  missed?: Missed
  /** The skipped instants since the last run (a singleton skipped their events), or those before the last run. */
  skipped?: Skipped
  /** Future instants that already fired while the clock was ahead. */
  firedAhead?: Fired[]
}

export function scheduleRowId(namespace: string, id: string): string {
  return flowRowId({ namespace, app: '', workflow: '', policy: 'schedule', key: id })
}

export function recurrenceOf({ createdAt, startsAt, ...rule }: Omit<EventSchedule, 'id'>): Recurrence {
  return new Recurrence({ ...rule, anchor: startsAt ?? createdAt, ...(startsAt === undefined ? {} : { startsAt }) })
}

/** The schedule with a new definition. It keeps its next instant if the times are unchanged. */
export function redefined(
  stored: EventSchedule | undefined,
  definition: ScheduleDefinition,
  { id, now }: { id: string; now: number },
): EventSchedule {
  const {
    createdAt = now,
    paused,
    heldAt,
    nextAt,
    lastAt,
    lastEventId,
    lastRunId,
    missed,
    skipped,
    firedAhead,
  } = stored ?? {}
  const keepsTimes = stored !== undefined && timesOf(stored) === timesOf(definition)
  const fired = keepsTimes && firedAhead ? { firedAhead } : {}
  const kept = {
    lastAt,
    lastEventId,
    lastRunId,
    ...(missed ? { missed } : {}),
    ...(skipped ? { skipped } : {}),
    ...fired,
  }
  const schedule: EventSchedule = { ...definition, id, createdAt, ...kept }
  if (paused) return { ...schedule, paused, ...(keepsTimes && heldAt !== undefined ? { heldAt } : {}) }
  if (!keepsTimes) return withNext(schedule, recurrenceOf(schedule).next(now))
  // The schedule has ended, or it ended by a clock that was ahead.
  return nextAt === undefined ? setBack(schedule, now) : withNext(schedule, nextAt)
}

function timesOf({ cron, everyMs, startsAt, endsAt }: ScheduleDefinition): string {
  return JSON.stringify([cron, everyMs, startsAt, endsAt])
}

export function paused({ nextAt, madeUp: _, ...schedule }: EventSchedule): EventSchedule {
  return { ...schedule, paused: true, ...(nextAt === undefined ? {} : { heldAt: nextAt }) }
}

/** Instants that passed during the pause do not fire later. */
export function resumed(schedule: EventSchedule, now: number): EventSchedule {
  const { paused, heldAt, ...active } = schedule
  return paused ? setBack(withNext(active, heldAt), now) : schedule
}

/** The schedule with its next instant computed from `now`, after the clock was set back. */
export function setBack(schedule: EventSchedule, now: number): EventSchedule {
  const { nextAt: _, missed: __, firedAhead: ___, ...rest } = schedule
  // An interval that should begin in the future begins now.
  if (isAnchoredAfter(schedule, now)) return withNext({ ...rest, createdAt: now }, now + (schedule.everyMs as number))
  return { ...rest, ...afterSetBack(recurrenceOf(schedule), schedule, now) }
}

function isAnchoredAfter({ everyMs, startsAt, createdAt }: EventSchedule, now: number): boolean {
  return everyMs !== undefined && startsAt === undefined && createdAt > now
}

/**
 * The event that a schedule sent at an instant, with the first run that it started, or the live run for which a singleton
 * skipped it.
 */
interface LastEvent {
  at: number
  instant: number
  eventId: string
  runId: string | undefined
  liveRunId: string | undefined
}

/** The schedule after it has fired. */
export function withLast(
  { lastRunId, ...schedule }: EventSchedule,
  { at, instant, eventId, runId, liveRunId }: LastEvent,
): EventSchedule {
  const last = { ...schedule, lastAt: at, lastEventId: eventId }
  if (runId !== undefined) return { ...last, lastRunId: runId }
  if (liveRunId === undefined) return last
  // `lastRunId` is present if the previous event started a run.
  const sinceLast = lastRunId === undefined ? schedule.skipped : undefined
  return { ...last, skipped: skippedAfter(sinceLast, instant, liveRunId) }
}

/** The instant of a due schedule that fires, if one does, and the schedule after it. */
export interface DueSchedule {
  instant?: number
  after: EventSchedule
}

/** Returns undefined while no instant is due. */
export function dueSchedule(schedule: EventSchedule, now: number): DueSchedule | undefined {
  const { nextAt, catchUp, madeUp = 0, firedAhead } = schedule
  if (nextAt === undefined || nextAt > now) return undefined
  const times = recurrenceOf(schedule)
  const { madeUp: _, ...rest } = schedule
  if (catchUp === 'all' && madeUp < MADE_UP_MAX - 1) {
    const next = nextUnfired(times, nextAt, firedAhead)
    const isOverdue = next !== undefined && next <= now
    const after = withNext(isOverdue ? { ...rest, madeUp: madeUp + 1 } : rest, next)
    return { instant: nextAt, after: withFired(after, now) }
  }
  const instant = times.latest(nextAt, now)
  const isLeftOut = catchUp === 'none' && now - instant > LATE_MS_MAX
  const until = isLeftOut ? instant : instant > nextAt ? times.latest(nextAt, instant - 1) : undefined
  const gap = until === undefined ? undefined : gapOf(times, { from: nextAt, until }, 'no-engine')
  const after = { ...withNext(rest, nextUnfired(times, now, firedAhead)), ...missedAfter(rest, gap) }
  return isLeftOut || hasFired(instant, firedAhead) ? { after } : { instant, after: withFired(after, now) }
}

/** The schedule after it has fired at `now`. */
function withFired(schedule: EventSchedule, now: number): EventSchedule {
  const { firedAhead: _, ...rest } = schedule
  return { ...rest, ...firedAfter(schedule, now), lastAt: now }
}

/** The row of a schedule, based on the stored one if there is one. Any engine's lease on the row ends. */
export function scheduleRow(namespace: string, schedule: EventSchedule, stored?: FlowRow): FlowRow {
  const { id: key, eventData, ...about } = schedule
  const id = scheduleRowId(namespace, key)
  return {
    id,
    namespace,
    app: '',
    workflow: '',
    policy: 'schedule',
    key,
    version: stored ? stored.version + 1 : firstVersion(`${id} ${schedule.createdAt}`),
    ...(schedule.nextAt === undefined ? {} : { availableAt: schedule.nextAt }),
    state: splice(about, { eventData }),
  }
}

export function scheduleSaved(namespace: string, schedule: EventSchedule, stored?: FlowRow): Change {
  return { type: 'flow.saved', row: scheduleRow(namespace, schedule, stored) }
}

/** The schedule that `scheduleRow` stored, with exactly the data of its event. */
export function eventSchedule({ key, state }: Pick<FlowRow, 'key' | 'state'>): EventSchedule {
  const { eventData: _, ...about } = JSON.parse(state) as EventSchedule
  const eventData = objectMember(state, 'eventData')
  return { ...about, id: key, ...(eventData === undefined ? {} : { eventData }) }
}

function withNext({ nextAt: _, ...schedule }: EventSchedule, nextAt: number | undefined): EventSchedule {
  return nextAt === undefined ? schedule : { ...schedule, nextAt }
}
