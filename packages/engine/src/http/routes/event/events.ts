// Sends events (docs/events.md#send-an-event) and reads the event log. `POST /events` is the hottest route of the engine.

import { DURATION_FORMS, parseDurationMs, type SendEvent, type SendEventReply } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import type { Event } from '../../../domain/model/event.ts'
import { list } from '../../../domain/text/json-splice.ts'
import { objectMember } from '../../../domain/text/json-text.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import { readTraceparent } from '../../../domain/text/traceparent.ts'
import { EVENT_PAGE_CHARS_MAX, type PositionedEvent } from '../../../ports/store-reads.ts'
import type { IncomingEvent } from '../../../services/event/ingest.ts'
import type { Later } from '../../../services/event/scheduled-events.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { bodyOf } from '../../request/body.ts'
import { decodeCursor, encodeCursor, isPosition } from '../../request/cursor.ts'
import { notFound, pathId } from '../../request/query.ts'
import { timestamp as readTimestamp } from '../../request/timestamp.ts'
import { warningsOf } from '../../request/unknown.ts'
import { checkName, validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { withBufferRuns } from './buffer-links.ts'
import { eventText } from './present-event.ts'

const checkEvent = validator(operations.sendEvent.body.schema)

export function eventRoutes(app: FastifyInstance, context: HttpContext): void {
  const { deps } = context

  mount(app, context, operations.sendEvent, async (request, reply, { dryRun }) => {
    const { namespace } = request.actor
    const { event, later } = incomingEvent(request)
    const warnings = warningsOf(request, operations.sendEvent)
    if (dryRun) {
      const effect = await deps.dryRun.send(namespace, event)
      return sendJson(reply, 200, JSON.stringify(warned(effect, warnings)))
    }
    const outcome = await (later ? sendLater(namespace, event, later) : deps.ingest.send(namespace, event))
    // The answer to a duplicate has no other member.
    const isDuplicate = outcome.eventId === undefined
    return sendJson(reply, 202, JSON.stringify(isDuplicate ? outcome : warned(outcome, warnings)))
  })

  async function sendLater(namespace: string, event: IncomingEvent, later: Later): Promise<SendEventReply> {
    const scheduled = await deps.scheduledEvents.schedule(namespace, event, later)
    return scheduled ? { ...scheduled, at: timestamp(scheduled.at) } : { deduped: true }
  }

  mount(app, context, operations.listEvents, async (request, reply, query) => {
    const { limit, cursor, ...filter } = query
    const { namespace } = request.actor
    const scope = { kind: 'events', namespace, filter: textsOf(filter) } as const
    const before = decodeCursor(cursor, scope, readPosition)
    // One row more than the limit shows whether there is a next page.
    const rows = { ...filter, before, limit: limit + 1 }
    const found = await scan(context, reply, signal => deps.store.in(namespace).events(rows, signal))
    const page = found.slice(0, limit)
    const last = page.at(-1)
    if ((found.length > limit || isCutOff(page)) && last)
      reply.header('x-next-cursor', encodeCursor(scope, [last.position]))
    const linked = await withBufferRuns(
      deps.store.in(namespace),
      page.map(({ event }) => event),
    )
    return sendJson(reply, 200, list(linked.map(eventText)))
  })

  mount(app, context, operations.listEventNames, async (request, reply, { prefix, limit, cursor }) => {
    const { namespace } = request.actor
    const scope = { kind: 'eventNames', namespace, filter: textsOf({ prefix }) } as const
    const after = decodeCursor(cursor, scope, readName)
    const query = { prefix, after, limit: limit + 1 }
    const found = await scan(context, reply, signal => deps.store.in(namespace).eventNames(query, signal))
    const page = found.slice(0, limit)
    const last = page.at(-1)
    if (found.length > limit && last) reply.header('x-next-cursor', encodeCursor(scope, [last.name]))
    const names = page.map(({ name, lastAt, lastEventId }) => ({ name, lastAt: timestamp(lastAt), lastEventId }))
    return sendJson(reply, 200, JSON.stringify(names))
  })

  mount(app, context, operations.getEvent, async (request, reply) => {
    const reads = deps.store.in(request.actor.namespace)
    const found = await reads.event(pathId(request, 'event'))
    if (!found) throw notFound('event')
    const [event] = (await withBufferRuns(reads, [found])) as [Event]
    return sendJson(reply, 200, eventText(event))
  })
}

/** The reply with the warnings of the request before its own. */
function warned<T extends { warnings?: string[] }>(reply: T, warnings: readonly string[]): T {
  return warnings.length === 0 ? reply : { ...reply, warnings: [...warnings, ...(reply.warnings ?? [])] }
}

/** The checked body, with the exact text of `data`; `later` only if the event does not arrive at once. */
function incomingEvent(request: FastifyRequest): { event: IncomingEvent; later: Later | undefined } {
  const body = bodyOf(request)
  const checked = checkEvent(body?.value)
  const { name, app, dedupeId, runner, targetApp, attributes } = checked
  checkName('name', name)
  checkName('app', app)
  checkName('dedupeId', dedupeId)
  checkName('runner', runner)
  checkName('targetApp', targetApp)
  const event: IncomingEvent = { name }
  const trace = readTraceparent(request.headers.traceparent)
  if (trace !== undefined) event.trace = trace
  if (app !== undefined) event.app = app
  if (dedupeId !== undefined) event.dedupeId = dedupeId
  if (runner !== undefined) event.runner = runner
  if (targetApp !== undefined) event.targetApp = targetApp
  if (attributes !== undefined) event.attributes = attributes
  const data = body && objectMember(body.text, 'data')
  if (data !== undefined) event.data = data
  return { event, later: laterOf(checked) }
}

function laterOf({ at, delay }: SendEvent): Later | undefined {
  if (at === undefined && delay === undefined) return undefined
  if (at !== undefined && delay !== undefined) throw invalid('at', 'cannot be given with delay')
  if (at !== undefined) return { at: readTimestamp('at', at) }
  const delayMs = parseDurationMs(delay as string | number)
  if (delayMs === undefined) throw invalid('delay', `must be ${DURATION_FORMS}`)
  return { delayMs: Math.ceil(delayMs) }
}

/** Whether the page ended because it is large. */
function isCutOff(page: readonly PositionedEvent[]): boolean {
  return page.reduce((sum, { event }) => sum + (event.data?.length ?? 0), 0) > EVENT_PAGE_CHARS_MAX
}

function readPosition([position, ...rest]: unknown[]): number | undefined {
  return isPosition(position) && rest.length === 0 ? position : undefined
}

function readName([name, ...rest]: unknown[]): string | undefined {
  return typeof name === 'string' && rest.length === 0 ? name : undefined
}

/** The filters that are given, as a cursor is bound to them. */
function textsOf(filter: Readonly<Record<string, string | number | undefined>>): Record<string, string> {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}
