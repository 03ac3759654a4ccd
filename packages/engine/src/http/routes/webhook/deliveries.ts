// Webhook deliveries: the log of what was sent, and sending again (contract §4.5).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { list } from '../../../domain/text/json-splice.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { decodeCursor, encodeCursor, isPosition } from '../../request/cursor.ts'
import { notFound, pathId } from '../../request/query.ts'
import { sendJson } from '../../response/reply.ts'
import { deliveryDetailText, deliveryText } from './present-delivery.ts'

export function webhookDeliveryRoutes(app: FastifyInstance, context: HttpContext): void {
  const { deliveries, store } = context.deps

  mount(app, context, operations.listWebhookDeliveries, async (request, reply, query) => {
    const { limit, cursor } = query
    const filter = { status: query.status, app: query.app }
    const { namespace } = request.actor
    const scope = { kind: 'deliveries', namespace, filter } as const
    const after = cursor === undefined ? undefined : decodeCursor(cursor, scope, readPosition)
    const page = await store.in(namespace).deliveries({ ...filter, after, limit })
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
