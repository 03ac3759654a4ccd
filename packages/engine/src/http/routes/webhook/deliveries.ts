// Webhook deliveries: the log, and redelivery (docs/webhooks.md#deliveries).

import type { DeliveryFrame } from '@perdure/protocol'
import { operations, type QueryValues } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { Delivery, DeliveryAttempt } from '../../../domain/model/delivery.ts'
import { list, splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { DeliveryFilter } from '../../../ports/store-reads.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { decodeCursor, encodeCursor, isPosition } from '../../request/cursor.ts'
import { notFound, pathId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'

type ListQuery = QueryValues<typeof operations.listWebhookDeliveries.query>
/** The filters of the list: a parameter of the operation that the store lacks does not compile. */
type Filters = { [Name in Exclude<keyof ListQuery, 'limit' | 'cursor'>]: DeliveryFilter[Name] }

export function webhookDeliveryRoutes(app: FastifyInstance, context: HttpContext): void {
  const { deliveries, store } = context.deps

  mount(app, context, operations.listWebhookDeliveries, async (request, reply, query) => {
    const { limit, cursor, ...filter }: Filters & Pick<ListQuery, 'limit' | 'cursor'> = query
    const { namespace } = request.actor
    const { since, until, ...names } = filter
    const texts = { ...names, since: since?.toString(), until: until?.toString() }
    const scope = { kind: 'deliveries', namespace, filter: texts } as const
    const after = decodeCursor(cursor, scope, readPosition)
    const reads = store.in(namespace)
    const page = await scan(context, reply, signal => reads.deliveries({ ...filter, after, limit }, signal))
    const last = page.deliveries.at(-1)
    if (page.more && last) reply.header('x-next-cursor', encodeCursor(scope, [last.createdAt, last.id]))
    return sendJson(reply, 200, list(page.deliveries.map(deliveryText)))
  })

  mount(app, context, operations.getWebhookDelivery, async (request, reply) => {
    const found = await store.in(request.actor.namespace).delivery(pathId(request, 'webhook delivery'))
    if (!found) throw notFound('webhook delivery')
    return sendJson(reply, 200, deliveryDetailText(found.delivery, found.attempts))
  })

  mount(app, context, operations.redeliverWebhook, async (request, reply) => {
    await deliveries.redeliver(request.actor.namespace, pathId(request, 'webhook delivery'))
    return reply.code(204).send()
  })
}

function readPosition([createdAt, id, ...rest]: unknown[]): { createdAt: number; id: string } | undefined {
  if (!isPosition(createdAt) || typeof id !== 'string' || rest.length > 0) return undefined
  return { createdAt, id }
}

function deliveryText(delivery: Delivery): JsonText {
  return splice(head(delivery), payloadOf(delivery))
}

/** The delivery with its attempts. */
function deliveryDetailText(delivery: Delivery, attempts: readonly DeliveryAttempt[]): JsonText {
  const made = list(attempts.map(attempt => JSON.stringify(presentAttempt(attempt))))
  return splice(head(delivery), { ...payloadOf(delivery), attempts: made })
}

/** The exact text; a send without data has the body `null`. */
function payloadOf({ payload = 'null' }: Delivery): { payload: JsonText } {
  return { payload }
}

/** The frame of a delivery on a stream: without the payload. */
export function deliveryFrame(delivery: Delivery): DeliveryFrame {
  return { kind: 'delivery', ...head(delivery) }
}

function head(delivery: Delivery) {
  const { nextAttemptAt } = delivery
  return {
    id: delivery.id,
    app: delivery.app,
    endpointId: delivery.endpointId,
    url: delivery.url,
    eventKind: delivery.eventKind,
    sourceRunId: delivery.sourceRunId,
    status: delivery.status,
    attemptCount: delivery.attemptCount,
    maxAttempts: delivery.maxAttempts,
    lastStatusCode: delivery.lastStatusCode,
    nextAttemptAt: nextAttemptAt === undefined ? undefined : timestamp(nextAttemptAt),
    createdAt: timestamp(delivery.createdAt),
    updatedAt: timestamp(delivery.updatedAt),
  }
}

function presentAttempt({ deliveryId: _, createdAt, ...attempt }: DeliveryAttempt) {
  return { ...attempt, createdAt: timestamp(createdAt) }
}
