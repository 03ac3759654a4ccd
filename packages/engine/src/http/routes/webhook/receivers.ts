// Webhook receivers, and the public URL of each (docs/webhooks.md#receive-webhooks).

import type { CreateWebhookReceiver, UpdateWebhookReceiver, WebhookReceiver, WebhookRefusal } from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import { keepHeadersFault, type Receiver } from '../../../domain/model/receiver.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'
import type { Refusal } from '../../../domain/webhook/refusal.ts'
import { oldSecretsUntil } from '../../../domain/webhook/secrets.ts'
import { accept } from '../../access/accept.ts'
import type { HttpContext } from '../../access/context.ts'
import { type Handler, mount } from '../../access/mount.ts'
import { rawBodyOf } from '../../request/body.ts'
import { pathId } from '../../request/query.ts'
import { checkEventName } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { mountSetting } from './settings.ts'

const FIXED = 'cannot be changed after the receiver was made'

export function webhookReceiverRoutes(app: FastifyInstance, context: HttpContext): void {
  const { receivers, inbound, clock } = context.deps

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
    names: ['name', 'app', 'targetApp'],
    fixed: { slug: FIXED, scheme: FIXED },
    check: ({ eventName, keepHeaders }) => {
      checkEventName('eventName', eventName)
      const fault = keepHeadersFault(keepHeaders ?? [])
      if (fault !== undefined) throw invalid('keepHeaders', fault)
    },
    present: async (namespace, found) => {
      const accepted = await inbound.lastAcceptedAt(namespace, found)
      return found.map(receiver => presentReceiver(receiver, accepted.get(receiver.id), clock.now()))
    },
  })

  const receive: Handler<typeof operations.receiveWebhook> = async (request, reply) => {
    const post = { headers: request.headers, rawBody: rawBodyOf(request) }
    const slug = slugOf(request)
    const receive = () => inbound.receive(slug, post, addressOf(request))
    const receipt = await accept(context, reply, receive, { caller: inbound.callerOf(slug) })
    if ('handshake' in receipt) return sendJson(reply, 200, receipt.handshake)
    return sendJson(reply, 202, JSON.stringify(receipt))
  }
  mount(app, context, operations.receiveWebhook, receive, {
    config: { rawBody: true },
    onError: async (request, _reply, { code }) => {
      const reason = UNREAD[code]
      if (reason === undefined) return
      const sizeBytes = announcedBytes(request)
      inbound.refusedUnread(slugOf(request), reason, { sizeBytes, address: addressOf(request) })
    },
  })

  mount(app, context, operations.listWebhookRefusals, async (request, reply) => {
    const found = inbound.refusals(request.actor.namespace, pathId(request, 'webhook receiver'))
    return sendJson(reply, 200, JSON.stringify(found.map(presentRefusal)))
  })
}

/** The refusals of bodies, which come before the handler. */
const UNREAD: Readonly<Record<string, 'too_large' | 'encoded'>> = {
  payload_too_large: 'too_large',
  unsupported_media_type: 'encoded',
}

function slugOf(request: FastifyRequest): string {
  return (request.params as { slug: string }).slug
}

function addressOf(request: FastifyRequest): string | undefined {
  return request.raw.socket.remoteAddress
}

/** Returns the announced length; a body without one has no known length. */
function announcedBytes(request: FastifyRequest): number {
  const announced = Number(request.headers['content-length'])
  return Number.isSafeInteger(announced) ? announced : 0
}

function presentRefusal({ at, ...refusal }: Refusal): WebhookRefusal {
  return { at: timestamp(at), ...refusal }
}

function presentReceiver(receiver: Receiver, lastAcceptedAt: number | undefined, now: number): WebhookReceiver {
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
    oldSecretsUntil: optionalTimestamp(oldSecretsUntil(receiver, now)),
    lastAcceptedAt: optionalTimestamp(lastAcceptedAt),
    createdAt: timestamp(receiver.createdAt),
    updatedAt: timestamp(receiver.updatedAt),
  }
}
