// Schedules on the wire (docs/http-api/schedules.md#scheduleentry): the crons of workflows and the schedules of the API.

import type { RunStatus, ScheduleEntry } from '@perdure/protocol'
import { type EventSchedule, recurrenceOf } from '../../../domain/arrival/schedule/event-schedule.ts'
import type { Gap, Missed } from '../../../domain/arrival/schedule/missed.ts'
import type { Skipped } from '../../../domain/arrival/schedule/skipped.ts'
import type { ScheduleView } from '../../../domain/arrival/schedules.ts'
import type { Workflow } from '../../../domain/model/workflow.ts'
import { fieldsOf, Schedule, timezoneOf } from '../../../domain/text/cron.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'

/** How many of the next instants are shown. */
const NEXT_SHOWN = 5

/** The cron of a workflow, with the id that it has in lists. */
export interface CronEntry extends ScheduleView {
  id: string
  workflow: Pick<Workflow, 'app' | 'name'>
}

export type ListedSchedule = CronEntry | EventSchedule

interface Moment {
  now: number
  lastStatus: RunStatus | undefined
}

export function entryText(schedule: ListedSchedule, moment: Moment): JsonText {
  return 'workflow' in schedule ? JSON.stringify(cronEntry(schedule, moment)) : eventEntry(schedule, moment)
}

function cronEntry({ id, cron, timezone, workflow, ...state }: CronEntry, { now, lastStatus }: Moment): ScheduleEntry {
  const { paused = false, nextRunAt, lastRunAt, lastRunId, missed, skipped } = state
  return {
    id,
    source: 'workflow',
    cron,
    timezone,
    app: workflow.app,
    workflow: workflow.name,
    paused,
    next: paused ? [] : cronInstants(new Schedule(cron), nextRunAt).map(timestamp),
    ...last(lastRunAt, lastRunId, lastStatus),
    ...missedInstants(missed),
    ...skippedInstants(skipped),
    ...late(paused ? undefined : nextRunAt, now),
  }
}

function eventEntry(schedule: EventSchedule, { now, lastStatus }: Moment): JsonText {
  const { id, cron, everyMs, eventName, eventApp, eventData, startsAt, endsAt, catchUp, nextAt, ...state } = schedule
  const { paused = false, lastAt, lastRunId, lastEventId, missed, skipped, givenTimezone } = state
  const next = nextAt === undefined ? [] : [nextAt, ...recurrenceOf(schedule).following(nextAt, NEXT_SHOWN - 1)]
  const about: ScheduleEntry = {
    id,
    source: 'api',
    ...(cron === undefined
      ? { every: everyMs as number }
      : { cron: givenTimezone === undefined ? cron : fieldsOf(cron), timezone: timezoneOf(cron) }),
    ...optional('startsAt', startsAt),
    ...optional('endsAt', endsAt),
    catchUp,
    paused,
    next: next.map(timestamp),
    ...last(lastAt, lastRunId, lastStatus),
    ...missedInstants(missed),
    ...skippedInstants(skipped),
    ...(lastEventId === undefined ? {} : { lastEventId }),
    ...late(nextAt, now),
  }
  const event = splice({ name: eventName, ...(eventApp === undefined ? {} : { app: eventApp }) }, { data: eventData })
  return splice(about, { event })
}

function cronInstants(cron: Schedule, first: number): number[] {
  const instants: number[] = []
  for (let at: number | undefined = first; at !== undefined && instants.length < NEXT_SHOWN; at = cron.next(at))
    instants.push(at)
  return instants
}

function optional<Name extends 'startsAt' | 'endsAt'>(name: Name, time: number | undefined): { [K in Name]?: string } {
  return time === undefined ? {} : ({ [name]: optionalTimestamp(time) } as { [K in Name]: string })
}

function last(at: number | undefined, runId: string | undefined, status: RunStatus | undefined) {
  return {
    ...(at === undefined ? {} : { lastAt: timestamp(at) }),
    ...(runId === undefined ? {} : { lastRunId: runId }),
    ...(status === undefined ? {} : { lastStatus: status }),
  }
}

function missedInstants(missed: Missed | undefined): Pick<ScheduleEntry, 'missed'> {
  if (!missed) return {}
  const { earlier = [], ...last } = missed
  return { missed: { ...gapText(last), ...(earlier.length > 0 && { earlier: earlier.map(gapText) }) } }
}

function skippedInstants(skipped: Skipped | undefined): Pick<ScheduleEntry, 'skipped'> {
  if (!skipped) return {}
  const { from, until, count, liveRunId } = skipped
  return { skipped: { from: timestamp(from), until: timestamp(until), count, liveRunId: shownRunId(liveRunId) } }
}

function gapText({ from, until, count, cause }: Gap) {
  return { from: timestamp(from), until: timestamp(until), count, cause }
}

function late(nextAt: number | undefined, now: number): { lateMs?: number } {
  return nextAt === undefined || nextAt >= now ? {} : { lateMs: now - nextAt }
}
