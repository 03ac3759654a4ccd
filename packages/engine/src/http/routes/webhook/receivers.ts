// Webhook receivers, and the public URL of each (docs/webhooks.md#receive-webhooks).

import type { CreateWebhookReceiver, UpdateWebhookReceiver, WebhookReceiver } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import { keepHeadersFault, type Receiver } from '../../../domain/model/receiver.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { HttpContext } from '../../access/context.ts'
import { type Handler, mount } from '../../access/mount.ts'
import { rawBodyOf } from '../../request/body.ts'
import { sendJson } from '../../response/reply.ts'
import { mountSetting } from './settings.ts'

const FIXED = 'cannot be changed after the receiver was made'

export function webhookReceiverRoutes(app: FastifyInstance, context: HttpContext): void {
  const { receivers, inbound } = context.deps

  mountSetting<Receiver, CreateWebhookReceiver, UpdateWebhookReceiver>(app, context, {
    noun: 'webhook receiver',
    operations: {
      list: operations.listWebhookReceivers,
      create: operations.createWebhookReceiver,
      update: operations.updateWebhookReceiver,
      remove: operations.deleteWebhookReceiver,
    },
    service: receivers,
    members: ['eventName', 'name', 'app', 'slug', 'targetApp', 'scheme', 'keepHeaders', 'enabled', 'secret'],
    names: ['name', 'app', 'eventName', 'targetApp'],
    fixed: { slug: FIXED, scheme: FIXED },
    check: ({ keepHeaders }) => {
      const fault = keepHeadersFault(keepHeaders ?? [])
      if (fault !== undefined) throw invalid('keepHeaders', fault)
    },
    present: presentReceiver,
  })

  const receive: Handler<typeof operations.receiveWebhook> = async (request, reply) => {
    const { slug } = request.params as { slug: string }
    const receipt = await inbound.receive(slug, { headers: request.headers, rawBody: rawBodyOf(request) })
    if ('handshake' in receipt) return sendJson(reply, 200, receipt.handshake)
    return sendJson(reply, 202, JSON.stringify(receipt))
  }
  mount(app, context, operations.receiveWebhook, receive, { config: { rawBody: true } })
}

function presentReceiver(receiver: Receiver): WebhookReceiver {
  return {
    id: receiver.id,
    name: receiver.name,
    app: receiver.app,
    slug: receiver.slug,
    eventName: receiver.eventName,
    targetApp: receiver.targetApp,
    scheme: receiver.scheme,
    keepHeaders: receiver.keepHeaders,
    enabled: receiver.enabled,
    createdAt: timestamp(receiver.createdAt),
    updatedAt: timestamp(receiver.updatedAt),
  }
}
