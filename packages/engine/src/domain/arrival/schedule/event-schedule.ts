// Schedules that are made through the API (docs/events.md#schedules-by-api): a flow-control row keeps the schedule, the event that it
// sends, and its next instant. services/event/schedules lets the event arrive when the row is due.

import type { CatchUp } from '@perdure/protocol'
import type { Change } from '../../model/change.ts'
import { type FlowRow, firstVersion, flowRowId } from '../../model/flow-row.ts'
import { splice } from '../../text/json-splice.ts'
import { type JsonText, objectMember } from '../../text/json-text.ts'
import { type Missed, missedAfter } from './missed.ts'
import { Recurrence, type RecurrenceRule } from './recurrence.ts'

/** Instants that `catchUp: 'all'` makes up for at most: the oldest, and the newest. */
const MADE_UP_MAX = 1000
/** With `catchUp: 'none'`, an instant that is later than this does not fire. */
const LATE_MS_MAX = 60_000

/** A schedule as its maker gives it. */
export interface ScheduleDefinition extends Omit<RecurrenceRule, 'anchor'> {
  /** The zone that was given beside the cron expression, which names it too. Absent: the expression is as it was given. */
  givenTimezone?: string
  eventName: string
  eventApp?: string
  eventData?: JsonText
  catchUp: CatchUp
}

export interface EventSchedule extends ScheduleDefinition {
  id: string
  createdAt: number
  /** Absent while it is paused, and when it has ended. */
  nextAt?: number
  paused?: true
  /** The next instant at the time of the pause: after it, no earlier one comes again if the clock was set back. */
  heldAt?: number
  /** Overdue instants that fired in a row under `catchUp: 'all'`. */
  madeUp?: number
  lastAt?: number
  lastEventId?: string
  lastRunId?: string
  missed?: Missed
}

export function scheduleRowId(namespace: string, id: string): string {
  return flowRowId({ namespace, app: '', workflow: '', policy: 'schedule', key: id })
}

export function recurrenceOf({ createdAt, startsAt, ...rule }: Omit<EventSchedule, 'id'>): Recurrence {
  return new Recurrence({ ...rule, anchor: startsAt ?? createdAt, ...(startsAt === undefined ? {} : { startsAt }) })
}

/** The schedule with a new definition. Its next instant stays if its times stay. */
export function redefined(
  stored: EventSchedule | undefined,
  definition: ScheduleDefinition,
  { id, now }: { id: string; now: number },
): EventSchedule {
  const { createdAt = now, paused, heldAt, nextAt, lastAt, lastEventId, lastRunId, missed } = stored ?? {}
  const kept = { lastAt, lastEventId, lastRunId, ...(missed ? { missed } : {}) }
  const schedule: EventSchedule = { ...definition, id, createdAt, ...kept }
  const keepsTimes = stored !== undefined && timesOf(stored) === timesOf(definition)
  if (paused) return { ...schedule, paused, ...(keepsTimes && heldAt !== undefined ? { heldAt } : {}) }
  return withNext(schedule, keepsTimes ? nextAt : recurrenceOf(schedule).next(now))
}

function timesOf({ cron, everyMs, startsAt, endsAt }: ScheduleDefinition): string {
  return JSON.stringify([cron, everyMs, startsAt, endsAt])
}

export function paused({ nextAt, madeUp: _, ...schedule }: EventSchedule): EventSchedule {
  return { ...schedule, paused: true, ...(nextAt === undefined ? {} : { heldAt: nextAt }) }
}

/** Instants that passed while it was paused are not made up for. */
export function resumed(schedule: EventSchedule, now: number): EventSchedule {
  const { paused, heldAt = now, ...active } = schedule
  return paused ? withNext(active, recurrenceOf(active).next(Math.max(now, heldAt - 1))) : schedule
}

/** The schedule after it has fired. `runId`: the first run that its event started. */
export function withLast(
  { lastRunId: _, ...schedule }: EventSchedule,
  { at, eventId, runId }: { at: number; eventId: string; runId: string | undefined },
): EventSchedule {
  return { ...schedule, lastAt: at, lastEventId: eventId, ...(runId === undefined ? {} : { lastRunId: runId }) }
}

/** The instant of a due schedule that fires, if one does, and the schedule after it. */
export interface DueSchedule {
  instant?: number
  after: EventSchedule
}

/** Undefined while no instant is due. */
export function dueSchedule(schedule: EventSchedule, now: number): DueSchedule | undefined {
  const { nextAt, catchUp, madeUp = 0 } = schedule
  if (nextAt === undefined || nextAt > now) return undefined
  const times = recurrenceOf(schedule)
  const { madeUp: _, ...rest } = schedule
  if (catchUp === 'all' && madeUp < MADE_UP_MAX - 1) {
    const next = times.next(nextAt)
    const isOverdue = next !== undefined && next <= now
    return { instant: nextAt, after: withNext(isOverdue ? { ...rest, madeUp: madeUp + 1 } : rest, next) }
  }
  const instant = times.latest(nextAt, now)
  const isLeftOut = catchUp === 'none' && now - instant > LATE_MS_MAX
  const until = isLeftOut ? instant : instant > nextAt ? times.latest(nextAt, instant - 1) : undefined
  const gap = until === undefined ? undefined : { from: nextAt, until }
  const after = { ...withNext(rest, times.next(now)), ...missedAfter(rest, gap) }
  return isLeftOut ? { after } : { instant, after }
}

/** The row of a schedule, changed from the stored one if there is one. Anybody's lease on it ends. */
function scheduleRow(namespace: string, schedule: EventSchedule, stored?: FlowRow): FlowRow {
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

/** The schedule that `scheduleRow` stored, its event's data to the letter. */
export function eventSchedule({ key, state }: Pick<FlowRow, 'key' | 'state'>): EventSchedule {
  const { eventData: _, ...about } = JSON.parse(state) as EventSchedule
  const eventData = objectMember(state, 'eventData')
  return { ...about, id: key, ...(eventData === undefined ? {} : { eventData }) }
}

function withNext({ nextAt: _, ...schedule }: EventSchedule, nextAt: number | undefined): EventSchedule {
  return nextAt === undefined ? schedule : { ...schedule, nextAt }
}
