// Events that arrive later: `/scheduled-events` and `/scheduled-events/{id}` (docs/events.md#send-an-event-later).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { FlowRow } from '../../../domain/model/flow-row.ts'
import { filterTerms, type ScheduledFilter, scheduledEvent } from '../../../domain/run/later/scheduled-event.ts'
import { list, splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { ScheduledQuery } from '../../../ports/store-reads.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { decodeCursor, encodeCursor, readTimeAndId } from '../../request/cursor.ts'
import { pathId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'

export function scheduledEventRoutes(app: FastifyInstance, context: HttpContext): void {
  const { scheduledEvents, store } = context.deps

  mount(app, context, operations.listScheduledEvents, async (request, reply, { limit, cursor, ...given }) => {
    const { namespace } = request.actor
    const terms = filterTerms(given)
    const scope = { kind: 'scheduled', namespace, filter: { terms: terms.join('\n') } } as const
    const after = decodeCursor(cursor, scope, readTimeAndId('dueAt'))
    const reads = store.in(namespace)
    const rows = await scan(context, reply, signal => reads.scheduledEvents({ terms, after, limit }, signal))
    // A page may end early, so only an empty one shows that nothing follows.
    const last = rows.at(-1)
    const next = last && positionOf(last)
    const more =
      next && (await scan(context, reply, signal => reads.scheduledEvents({ terms, after: next, limit: 1 }, signal)))
    if (next && more && more.length > 0) reply.header('x-next-cursor', encodeCursor(scope, [next.dueAt, next.id]))
    return sendJson(reply, 200, list(rows.map(scheduledText)))
  })

  mount(app, context, operations.deleteScheduledEvents, async (request, reply, given) => {
    const { deleted, more } = await scheduledEvents.deleteMatching(request.actor, filterOf(given))
    return sendJson(reply, 200, JSON.stringify({ deleted, ...(more && { more }) }))
  })

  mount(app, context, operations.deleteScheduledEvent, async (request, reply) => {
    await scheduledEvents.delete(request.actor, pathId(request, 'scheduled event'))
    return reply.code(204).send()
  })
}

/** The parts that were given. */
function filterOf({ name, attribute, key }: ScheduledFilter): ScheduledFilter {
  return {
    ...(name === undefined ? {} : { name }),
    ...(attribute === undefined ? {} : { attribute }),
    ...(key === undefined ? {} : { key }),
  }
}

function positionOf({ dueAt, id }: FlowRow): NonNullable<ScheduledQuery['after']> {
  return { dueAt: dueAt as number, id }
}

function scheduledText(row: FlowRow): JsonText {
  const { id, name, app, dedupeId, runner, targetApp, attributes, createdAt, data } = scheduledEvent(row)
  const at = timestamp(row.dueAt as number)
  const head = { id, name, at, app, dedupeId, runner, targetApp, attributes, createdAt: timestamp(createdAt) }
  return splice(head, { data })
}
