// Schedules (docs/events.md#schedules): lists the schedules of workflows and of the API; creates, changes, pauses and fires them.

import { DURATION_FORMS, type FireScheduleReply, type PutSchedule, parseDurationMs, quoteName } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkCron } from '../../../domain/arrival/schedules.ts'
import { invalid } from '../../../domain/model/errors.ts'
import { isZone, timezoneOf, zoned } from '../../../domain/text/cron.ts'
import { list } from '../../../domain/text/json-splice.ts'
import { objectMember } from '../../../domain/text/json-text.ts'
import { TIMESTAMP_MS_MAX } from '../../../domain/text/timestamp.ts'
import { isCronId, type PutRequest } from '../../../services/event/schedules.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { bodyOf } from '../../request/body.ts'
import { decodeCursor, encodeCursor, readId, readTimeAndId } from '../../request/cursor.ts'
import { timestamp as readTimestamp } from '../../request/timestamp.ts'
import { checkEventName, checkName, validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { ScheduleReads } from './schedule-reads.ts'

const checkPut = validator(operations.putSchedule.body.schema)
const ID_FORM = /^[A-Za-z0-9_.-]{1,128}$/
const EVERY_MS_MIN = 1000
const EVERY_MS_MAX = 366 * 86_400_000

export function scheduleRoutes(app: FastifyInstance, context: HttpContext): void {
  const { schedules } = context.deps
  const reads = new ScheduleReads(context.deps)

  mount(app, context, operations.listSchedules, async (request, reply, { source, sort, limit, cursor }) => {
    const { namespace } = request.actor
    const scope = { kind: 'schedules', namespace, filter: { source, sort } } as const
    if (sort !== 'id') {
      const after = decodeCursor(cursor, scope, readTimeAndId('at'))
      const page = await scan(context, reply, signal => reads.sorted(namespace, { source, sort, limit, after }, signal))
      if (page.next) reply.header('x-next-cursor', encodeCursor(scope, [page.next.at, page.next.id]))
      return sendJson(reply, 200, list(page.texts))
    }
    const after = decodeCursor(cursor, scope, readId)
    const page = await scan(context, reply, signal => reads.page(namespace, { source, limit, after }, signal))
    if (page.next !== undefined) reply.header('x-next-cursor', encodeCursor(scope, [page.next]))
    return sendJson(reply, 200, list(page.texts))
  })

  const putSchedule = async (request: FastifyRequest, reply: FastifyReply) => {
    const id = scheduleId(request)
    if (!ID_FORM.test(id) && !isCronId(id)) throw invalid('id', 'must match [A-Za-z0-9_.-]{1,128}')
    const { namespace } = request.actor
    const [text] = await reads.texts(namespace, [await schedules.put(request.actor, id, definitionOf(request))])
    return sendJson(reply, 200, text as string)
  }
  // The data of the event is one level deeper than in a posted event.
  mount(app, context, operations.putSchedule, putSchedule, { config: { bodyDepth: 2 } })

  mount(app, context, operations.deleteSchedule, async (request, reply) => {
    await schedules.delete(request.actor, scheduleId(request))
    return reply.code(204).send()
  })

  const setPaused = (isPaused: boolean) => async (request: FastifyRequest, reply: FastifyReply) => {
    const id = scheduleId(request)
    await schedules.setPaused(request.actor, id, isPaused)
    return sendJson(reply, 200, await reads.text(request.actor.namespace, id))
  }
  mount(app, context, operations.pauseSchedule, setPaused(true))
  mount(app, context, operations.resumeSchedule, setPaused(false))

  mount(app, context, operations.fireSchedule, async (request, reply) => {
    const { runId, eventId, triggered } = await schedules.fire(request.actor, scheduleId(request))
    return sendJson(reply, 202, JSON.stringify({ runId, eventId, triggered } satisfies FireScheduleReply))
  })
}

/** The id of a workflow's schedule contains names, which may have any characters. */
function scheduleId(request: FastifyRequest): string {
  return (request.params as { id: string }).id
}

/** The checked body, with the exact text of the event's data. */
function definitionOf(request: FastifyRequest): PutRequest {
  const body = bodyOf(request)
  const { event, catchUp = 'one', startsAt, endsAt, ifAbsent = false, dryRun = false, ...rest } = checkPut(body?.value)
  checkEventName('event.name', event.name)
  checkName('event.app', event.app)
  const eventText = body && objectMember(body.text, 'event')
  const eventData = eventText && objectMember(eventText, 'data')
  const start = boundedTime('startsAt', startsAt)
  const end = boundedTime('endsAt', endsAt)
  if (start !== undefined && end !== undefined && end <= start) throw invalid('endsAt', 'must be after startsAt')
  return {
    ...timesOf(rest),
    ifAbsent,
    dryRun,
    catchUp,
    eventName: event.name,
    ...(event.app === undefined ? {} : { eventApp: event.app }),
    ...(eventData === undefined ? {} : { eventData }),
    ...(start === undefined ? {} : { startsAt: start }),
    ...(end === undefined ? {} : { endsAt: end }),
  }
}

function boundedTime(field: 'startsAt' | 'endsAt', value: string | undefined): number | undefined {
  const time = value === undefined ? undefined : readTimestamp(field, value)
  if (time !== undefined && time > TIMESTAMP_MS_MAX) throw invalid(field, 'must not be after the year 9999, in UTC')
  return time
}

function timesOf({ cron, every, timezone }: Pick<PutSchedule, 'cron' | 'every' | 'timezone'>) {
  if ((cron === undefined) === (every === undefined)) throw invalid('cron', 'or every must be given, not both')
  if (every !== undefined) {
    if (timezone !== undefined) throw invalid('timezone', 'is only for cron')
    const everyMs = parseDurationMs(every)
    if (everyMs === undefined) throw invalid('every', `must be ${DURATION_FORMS}`)
    if (everyMs < EVERY_MS_MIN || everyMs > EVERY_MS_MAX) throw invalid('every', 'must be from 1 second to 366 days')
    return { everyMs: Math.round(everyMs) }
  }
  const given = cron as string
  if (timezone === undefined) {
    checkCron('cron', given)
    return { cron: given }
  }
  if (given.trimStart().startsWith('TZ=')) {
    checkCron('cron', given)
    if (timezoneOf(given) !== timezone) throw invalid('timezone', 'must be the zone that TZ= in cron names')
    return { cron: given }
  }
  if (/\s/.test(timezone) || !isZone(timezone)) {
    const what = quoteName(timezone)
    throw invalid('timezone', `must be the name of a time zone, such as Europe/Berlin, not ${what}`)
  }
  const source = zoned(given.trim(), timezone)
  checkCron('cron', source)
  return { cron: source, givenTimezone: timezone }
}
