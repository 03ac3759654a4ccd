// Webhook deliveries: the log, and redelivery (docs/webhooks.md#deliveries).

import type { DeliveryFrame, RedeliverWebhooks } from '@perdure/protocol'
import { operations, type QueryValues } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { Delivery, DeliveryAttempt } from '../../../domain/model/delivery.ts'
import { invalid } from '../../../domain/model/errors.ts'
import { shownRunId } from '../../../domain/text/ids.ts'
import { list, splice } from '../../../domain/text/json-splice.ts'
import type { JsonText } from '../../../domain/text/json-text.ts'
import { timestamp } from '../../../domain/text/timestamp.ts'
import type { DeliveryFilter, Reads } from '../../../ports/store-reads.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { bodyOf } from '../../request/body.ts'
import { decodeCursor, encodeCursor, readTimeAndId } from '../../request/cursor.ts'
import { notFound, pathId } from '../../request/query.ts'
import { timestamp as readTimestamp } from '../../request/timestamp.ts'
import { checkName, validator } from '../../request/validate.ts'
import { countText } from '../../response/count-text.ts'
import { sendJson } from '../../response/reply.ts'

type ListQuery = QueryValues<typeof operations.listWebhookDeliveries.query>
/** The filters of the list; a parameter of the operation that the store lacks fails to compile. */
type Filters = { [Name in Exclude<keyof ListQuery, 'limit' | 'cursor'>]: DeliveryFilter[Name] }

export function webhookDeliveryRoutes(app: FastifyInstance, context: HttpContext): void {
  const { deliveries, store } = context.deps

  mount(app, context, operations.listWebhookDeliveries, async (request, reply, query) => {
    const { limit, cursor, ...filter }: Filters & Pick<ListQuery, 'limit' | 'cursor'> = query
    const { namespace } = request.actor
    const scope = { kind: 'deliveries', namespace, filter } as const
    const after = decodeCursor(cursor, scope, readTimeAndId('createdAt'))
    const reads = store.in(namespace)
    const page = await scan(context, reply, signal => reads.deliveries({ ...filter, after, limit }, signal))
    const last = page.deliveries.at(-1)
    if (page.more && last) reply.header('x-next-cursor', encodeCursor(scope, [last.createdAt, last.id]))
    return sendJson(reply, 200, list(page.deliveries.map(deliveryText)))
  })

  mount(app, context, operations.getWebhookDeliveryFacets, async (request, reply, filter) => {
    const reads = store.in(request.actor.namespace)
    const counts = await scan(context, reply, signal => reads.deliveryCounts(filter, signal))
    const status = Object.fromEntries(counts.map(({ status, ...counted }) => [status, countText(counted)]))
    return sendJson(reply, 200, JSON.stringify({ status }))
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

  mount(app, context, operations.redeliverWebhooks, async (request, reply) => {
    const { filter: given, dryRun } = checkRedeliver(bodyOf(request)?.value)
    const { actor } = request
    const asked = filterOf(given)
    const filter = { ...asked, ...(await sourceOf(store.in(actor.namespace), asked)) }
    const found = await scan(context, reply, signal => deliveries.matching(actor.namespace, filter, signal), {
      timeoutMs: context.limits.bulkScanMs,
      tooWide: () => invalid('filter', 'leaves too many deliveries to search: give since and until'),
    })
    const counts = dryRun ? deliveries.preview(found) : await deliveries.redeliverAll(actor, asked, found)
    return sendJson(reply, 200, JSON.stringify(counts))
  })
}

const checkRedeliver = validator(operations.redeliverWebhooks.body.schema)

/** The source run under the id by which it is stored. */
async function sourceOf(reads: Reads, { sourceRunId }: DeliveryFilter): Promise<Pick<DeliveryFilter, 'sourceRunId'>> {
  const [stored] = sourceRunId === undefined ? [] : await reads.storedIds([sourceRunId])
  return stored === undefined ? {} : { sourceRunId: stored }
}

/** Requires a member, so that an empty filter does not post everything again. */
function filterOf({ since, until, ...given }: RedeliverWebhooks['filter']): DeliveryFilter {
  const { app, endpointId, sourceRunId } = given
  for (const [name, value] of Object.entries({ app, endpointId, sourceRunId })) checkName(`filter.${name}`, value)
  const filter: DeliveryFilter = {
    ...given,
    ...(since === undefined ? {} : { since: readTimestamp('filter.since', since) }),
    ...(until === undefined ? {} : { until: readTimestamp('filter.until', until) }),
  }
  if (Object.keys(filter).length > 0) return filter
  throw invalid('filter', 'must have a member: it would match every delivery')
}

function deliveryText(delivery: Delivery): JsonText {
  return splice(head(delivery), payloadOf(delivery))
}

/** The delivery with its attempts. */
export function deliveryDetailText(delivery: Delivery, attempts: readonly DeliveryAttempt[]): JsonText {
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
    sourceRunId: shownRunId(delivery.sourceRunId),
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
