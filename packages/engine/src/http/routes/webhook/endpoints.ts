// Webhook endpoints: reading, creating, changing and deleting them, and how their deliveries go (contract §4.6).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { EndpointEdit, NewEndpoint } from '../../../domain/model/endpoint.ts'
import { invalid } from '../../../domain/model/errors.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { bodyOf } from '../../request/body.ts'
import { pathId } from '../../request/query.ts'
import { checkCharacters, checkName, validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { presentEndpoint, presentStats } from './present-endpoint.ts'

/** Contract §8: the window of the stats unless `since` says otherwise. */
const STATS_WINDOW_MS = 30 * 24 * 3_600_000

const checkNew = validator(operations.createWebhookEndpoint.body.schema)
const checkEdit = validator(operations.updateWebhookEndpoint.body.schema)

export function webhookEndpointRoutes(app: FastifyInstance, context: HttpContext): void {
  const { endpoints, store, clock } = context.deps

  mount(app, context, operations.listWebhookEndpoints, async (request, reply) => {
    const list = endpoints.list(request.actor.namespace).map(presentEndpoint)
    return sendJson(reply, 200, JSON.stringify(list))
  })

  mount(app, context, operations.getWebhookEndpointStats, async (request, reply, query) => {
    const { namespace } = request.actor
    const since = query.since ?? clock.now() - STATS_WINDOW_MS
    const stats = new Map((await store.in(namespace).endpointStats(since)).map(row => [row.endpointId, row]))
    const rows = endpoints.list(namespace).map(({ id }) => presentStats(id, stats.get(id)))
    return sendJson(reply, 200, JSON.stringify(rows))
  })

  mount(app, context, operations.createWebhookEndpoint, async (request, reply) => {
    const fields = checkNew(bodyOf(request)?.value) as NewEndpoint
    checkFields(fields)
    checkCharacters('secret', fields.secret)
    const { endpoint, secret } = await endpoints.create(request.actor.namespace, pick(fields))
    return sendJson(reply, 201, JSON.stringify({ ...presentEndpoint(endpoint), secret }))
  })

  mount(app, context, operations.updateWebhookEndpoint, async (request, reply) => {
    const id = pathId(request, 'webhook endpoint')
    const edit = checkEdit(bodyOf(request)?.value) as EndpointEdit
    // Better a refusal than a caller who believes to have changed it.
    if (Object.hasOwn(edit, 'secret')) throw invalid('secret', 'cannot be set; rotateSecret makes a new one')
    checkFields(edit)
    const { endpoint, secret } = await endpoints.update(request.actor.namespace, id, edit)
    return sendJson(reply, 200, JSON.stringify({ ...presentEndpoint(endpoint), secret }))
  })

  mount(app, context, operations.deleteWebhookEndpoint, async (request, reply) => {
    await endpoints.delete(request.actor.namespace, pathId(request, 'webhook endpoint'))
    return reply.code(204).send()
  })
}

/** What the schema cannot say. */
function checkFields({ name, app, url }: EndpointEdit): void {
  checkName('name', name ?? undefined)
  checkName('app', app ?? undefined)
  if (url !== undefined) checkUrl(url)
}

function checkUrl(text: string): void {
  checkName('url', text)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw invalid('url', 'must be an http or https URL')
  // Every read shows the URL, and would show them.
  if (url.username !== '' || url.password !== '') throw invalid('url', 'must not carry credentials')
}

/** Members of other names are ignored, not stored. */
function pick({ name, app, url, eventKinds, enabled, secret }: NewEndpoint): NewEndpoint {
  return {
    url,
    eventKinds,
    ...(name === undefined ? {} : { name }),
    ...(app === undefined ? {} : { app }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(secret === undefined ? {} : { secret }),
  }
}
