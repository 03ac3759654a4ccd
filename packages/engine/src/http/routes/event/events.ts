// Sends events (docs/events.md#send-an-event) and reads the event log. `POST /events` is the hottest route of the engine.

import type { EventName } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import type { Event } from '../../../domain/model/event.ts'
import { list, splice } from '../../../domain/text/json-splice.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import { runEndText } from '../../../domain/view/run-end.ts'
import {
  EVENT_PAGE_CHARS_MAX,
  EVENTS_OF_NAME_MAX,
  type NamedEvents,
  type PositionedEvent,
} from '../../../ports/store-reads.ts'
import { accept } from '../../access/accept.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { bodyOf } from '../../request/body.ts'
import { decodeCursor, encodeCursor, readId, readNumber } from '../../request/cursor.ts'
import { notFound, pathId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'
import { tokenOf } from '../run/live/run-tokens.ts'
import { onlyRunOf, whileOpen } from '../run/results.ts'
import { withBufferRuns } from './buffer-links.ts'
import { eventText } from './present-event.ts'
import { acceptBatch, send, sentEvent, warned } from './send.ts'

/** An event that arrives later starts nothing now. `wait=0` is refused as well. */
function refuseRunParameters({ query }: FastifyRequest): void {
  for (const name of ['wait', 'token'])
    if (name in (query as object)) throw invalid(name, 'cannot be given with at or delay')
}

export function eventRoutes(app: FastifyInstance, context: HttpContext): void {
  const { deps } = context

  mount(app, context, operations.sendEvent, async (request, reply, { dryRun, wait, token: tokenMs }) => {
    const { namespace } = request.actor
    const sent = sentEvent(bodyOf(request), request.headers.traceparent)
    if (sent.later) refuseRunParameters(request)
    if (dryRun) {
      if (sent.later) deps.scheduledEvents.arrivalTime(sent.later)
      const effect = await deps.dryRun.send(namespace, sent.event)
      return sendJson(reply, 200, JSON.stringify(warned(effect, sent.warnings)))
    }
    const outcome = await accept(context, reply, () => send(deps, namespace, sent))
    if (outcome.eventId === undefined) nameFirst(reply, await deps.ingest.firstOf(namespace, sent.event))
    const runId = onlyRunOf(outcome)
    const token = runId !== undefined && tokenMs > 0 ? tokenOf(deps, request.actor, { id: runId }, tokenMs) : {}
    const run =
      runId === undefined || wait === 0
        ? undefined
        : await whileOpen(context, reply, signal => deps.results.ofNew(namespace, runId, { ms: wait, signal }))
    return sendJson(reply, 202, splice({ ...outcome, ...token }, { run: run && runEndText(run) }))
  })

  mount(
    app,
    context,
    operations.sendEvents,
    async (_request, reply) => sendJson(reply, 200, list(await acceptBatch(context, reply))),
    { bodyLimit: context.limits.eventBatchBodyMax, config: { bodyDepth: 2 } },
  )

  mount(app, context, operations.listEvents, async (request, reply, query) => {
    const { limit, cursor, ...filter } = query
    const { namespace } = request.actor
    const scope = { kind: 'events', namespace, filter } as const
    const before = decodeCursor(cursor, scope, readNumber)
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

  mount(app, context, operations.listEventNames, async (request, reply, { prefix, since, limit, cursor }) => {
    const { namespace } = request.actor
    const scope = { kind: 'eventNames', namespace, filter: { prefix } } as const
    const after = decodeCursor(cursor, scope, readId)
    const query = { prefix, since, after, limit: limit + 1 }
    const found = await scan(context, reply, signal => deps.store.in(namespace).eventNames(query, signal))
    const page = found.slice(0, limit)
    const last = page.at(-1)
    if (found.length > limit && last) reply.header('x-next-cursor', encodeCursor(scope, [last.name]))
    return sendJson(reply, 200, JSON.stringify(page.map(presentName)))
  })

  mount(app, context, operations.getEvent, async (request, reply) =>
    sendJson(reply, 200, eventText(await eventOf(request))),
  )

  mount(app, context, operations.explainEvent, async (request, reply, { now }) => {
    const event = await eventOf(request)
    return sendJson(reply, 200, JSON.stringify(await (now ? deps.eventWhy.now(event) : deps.eventWhy.atArrival(event))))
  })

  async function eventOf(request: FastifyRequest): Promise<Event> {
    const reads = deps.store.in(request.actor.namespace)
    const found = await reads.event(pathId(request, 'event'))
    if (!found) throw notFound('event')
    const [event] = (await withBufferRuns(reads, [found])) as [Event]
    return event
  }
}

/** Names, in headers, the event that was repeated and its run: the body of the answer has no room for them. */
function nameFirst(reply: FastifyReply, first: { eventId: string; runId?: string } | undefined): void {
  if (!first) return
  reply.header('x-event-id', first.eventId)
  if (first.runId !== undefined) reply.header('x-run-id', first.runId)
}

function presentName({ name, lastAt, lastEventId, count }: NamedEvents): EventName {
  const shown = count !== undefined && count > EVENTS_OF_NAME_MAX ? `${EVENTS_OF_NAME_MAX}+` : count
  return { name, lastAt: timestamp(lastAt), lastEventId, ...(shown === undefined ? {} : { count: shown }) }
}

/** Whether the page ended because it is large. */
function isCutOff(page: readonly PositionedEvent[]): boolean {
  return page.reduce((sum, { event }) => sum + (event.data?.length ?? 0), 0) > EVENT_PAGE_CHARS_MAX
}
