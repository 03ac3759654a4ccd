// Webhook receivers: reading, creating, changing and deleting them, and the public URL behind each slug (contract
// §4.6).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { invalid } from '../../../domain/model/errors.ts'
import type { NewReceiver, ReceiverEdit } from '../../../domain/model/receiver.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { bodyOf, rawBodyOf } from '../../request/body.ts'
import { pathId } from '../../request/query.ts'
import { checkCharacters, checkName, validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { presentReceiver } from './present-receiver.ts'

const checkNew = validator(operations.createWebhookReceiver.body.schema)
const checkEdit = validator(operations.updateWebhookReceiver.body.schema)

export function webhookReceiverRoutes(app: FastifyInstance, context: HttpContext): void {
  const { receivers, inbound } = context.deps

  mount(app, context, operations.listWebhookReceivers, async (request, reply) => {
    const list = receivers.list(request.actor.namespace).map(presentReceiver)
    return sendJson(reply, 200, JSON.stringify(list))
  })

  mount(app, context, operations.createWebhookReceiver, async (request, reply) => {
    const fields = checkNew(bodyOf(request)?.value) as NewReceiver
    checkNames(fields)
    checkCharacters('secret', fields.secret)
    const { receiver, secret } = await receivers.create(request.actor.namespace, pick(fields))
    return sendJson(reply, 201, JSON.stringify({ ...presentReceiver(receiver), secret }))
  })

  mount(app, context, operations.updateWebhookReceiver, async (request, reply) => {
    const id = pathId(request, 'webhook receiver')
    const edit = checkEdit(bodyOf(request)?.value) as ReceiverEdit
    refuseFixed(edit)
    checkNames(edit)
    const { receiver, secret } = await receivers.update(request.actor.namespace, id, edit)
    return sendJson(reply, 200, JSON.stringify({ ...presentReceiver(receiver), secret }))
  })

  mount(app, context, operations.deleteWebhookReceiver, async (request, reply) => {
    await receivers.delete(request.actor.namespace, pathId(request, 'webhook receiver'))
    return reply.code(204).send()
  })

  mount(
    app,
    context,
    operations.receiveWebhook,
    async (request, reply) => {
      const { slug } = request.params as { slug: string }
      const post = { headers: request.headers, rawBody: rawBodyOf(request) }
      const receipt = await inbound.receive(slug, post)
      if ('handshake' in receipt) return sendJson(reply, 200, receipt.handshake)
      return sendJson(reply, 202, JSON.stringify(receipt))
    },
    { config: { rawBody: true } },
  )
}

/** What the schema cannot say. */
function checkNames({ name, app, eventName, targetApp }: ReceiverEdit): void {
  checkName('name', name ?? undefined)
  checkName('app', app ?? undefined)
  checkName('eventName', eventName)
  checkName('targetApp', targetApp ?? undefined)
}

/** Better a refusal than a caller who believes to have changed them. */
function refuseFixed(edit: object): void {
  for (const field of ['slug', 'scheme']) {
    if (Object.hasOwn(edit, field)) throw invalid(field, 'cannot be changed after the receiver was made')
  }
  if (Object.hasOwn(edit, 'secret')) throw invalid('secret', 'cannot be set; rotateSecret makes a new one')
}

/** Members of other names are ignored, not stored. */
function pick(fields: NewReceiver): NewReceiver {
  const { name, app, slug, eventName, targetApp, scheme, enabled, secret } = fields
  return {
    eventName,
    ...(name === undefined ? {} : { name }),
    ...(app === undefined ? {} : { app }),
    ...(slug === undefined ? {} : { slug }),
    ...(targetApp === undefined ? {} : { targetApp }),
    ...(scheme === undefined ? {} : { scheme }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(secret === undefined ? {} : { secret }),
  }
}
