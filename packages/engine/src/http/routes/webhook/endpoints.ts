// Webhook endpoints and the statistics of their deliveries (docs/webhooks.md#what-endpoints-receive).

import type {
  CreateWebhookEndpoint,
  UpdateWebhookEndpoint,
  WebhookEndpoint,
  WebhookEndpointStats,
  WebhookSeriesPoint,
} from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { Endpoint } from '../../../domain/model/endpoint.ts'
import { invalid } from '../../../domain/model/errors.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'
import { percentiles } from '../../../domain/view/durations.ts'
import { SPAN_MS } from '../../../domain/view/rollup-span.ts'
import { emptyPostTally, type PostTally } from '../../../domain/webhook/attempt-tally.ts'
import { oldSecretsUntil } from '../../../domain/webhook/secrets.ts'
import type { EndpointStats } from '../../../ports/store-reads.ts'
import type { EndpointSeriesQuery } from '../../../ports/store-statistics.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { scan } from '../../access/scan.ts'
import { pathId } from '../../request/query.ts'
import { seriesWindow } from '../../request/series-window.ts'
import { checkUrl } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { deliveryDetailText } from './deliveries.ts'
import { mountSetting } from './settings.ts'

/** The period of the statistics without `since` (docs/limits.md#bounds). */
const STATS_WINDOW_MS = 30 * 24 * 3_600_000

export function webhookEndpointRoutes(app: FastifyInstance, context: HttpContext): void {
  const { endpoints, endpointTests, store, clock } = context.deps

  mountSetting<Endpoint, CreateWebhookEndpoint, UpdateWebhookEndpoint>(app, context, {
    noun: 'webhook endpoint',
    operations: {
      list: operations.listWebhookEndpoints,
      create: operations.createWebhookEndpoint,
      update: operations.updateWebhookEndpoint,
      remove: operations.deleteWebhookEndpoint,
    },
    service: endpoints,
    members: ['url', 'eventKinds', 'name', 'app', 'enabled', 'secret'],
    names: ['name', 'app'],
    check: ({ url }) => {
      if (url !== undefined) checkUrl(url)
    },
    present: async (_, found) => found.map(endpoint => presentEndpoint(endpoint, clock.now())),
  })

  mount(app, context, operations.getWebhookEndpointStats, async (request, reply, query) => {
    const { namespace } = request.actor
    const since = query.since ?? clock.now() - STATS_WINDOW_MS
    const counted = await scan(context, reply, signal => store.in(namespace).endpointStats(since, signal), {
      tooWide: () => invalid('since', 'leaves too many deliveries to count: give a later time'),
    })
    const stats = new Map(counted.map(row => [row.endpointId, row]))
    const rows = endpoints.list(namespace).map(({ id }) => presentStats(id, stats.get(id)))
    return sendJson(reply, 200, JSON.stringify(rows))
  })

  mount(app, context, operations.getWebhookEndpointSeries, async (request, reply, { step, endpointId, ...asked }) => {
    const query = { step, endpointId, ...seriesWindow(step, asked, clock.now()) }
    if (query.since >= query.until) return sendJson(reply, 200, '[]')
    const reads = store.in(request.actor.namespace)
    const series = await scan(context, reply, signal => reads.endpointSeries(query, signal))
    return sendJson(reply, 200, JSON.stringify(presentSeries(query, series)))
  })

  mount(app, context, operations.testWebhookEndpoint, async (request, reply) => {
    const { delivery, attempts } = await endpointTests.test(request.actor, pathId(request, 'webhook endpoint'))
    return sendJson(reply, 200, deliveryDetailText(delivery, attempts))
  })
}

/** A point for each span, even for spans without posts. */
function presentSeries(
  { step, since, until }: EndpointSeriesQuery,
  series: ReadonlyMap<number, PostTally>,
): WebhookSeriesPoint[] {
  const points: WebhookSeriesPoint[] = []
  for (let at = since; at < until; at += SPAN_MS[step]) {
    const { succeeded, failed, durations } = series.get(at) ?? emptyPostTally()
    points.push({ at: timestamp(at), succeeded, failed, ...percentiles(durations, { p50Ms: 0.5, p95Ms: 0.95 }) })
  }
  return points
}

function presentEndpoint(endpoint: Endpoint, now: number): WebhookEndpoint {
  return {
    id: endpoint.id,
    name: endpoint.name,
    app: endpoint.app,
    url: endpoint.url,
    scheme: 'standard-webhooks',
    eventKinds: [...endpoint.eventKinds],
    enabled: endpoint.enabled,
    disabledReason: endpoint.disabledReason,
    oldSecretsUntil: optionalTimestamp(oldSecretsUntil(endpoint, now)),
    createdAt: timestamp(endpoint.createdAt),
    updatedAt: timestamp(endpoint.updatedAt),
  }
}

/** An endpoint without deliveries also has a row. */
function presentStats(endpointId: string, stats: EndpointStats | undefined): WebhookEndpointStats {
  if (!stats) return { endpointId, delivered: 0, succeeded: 0, failed: 0 }
  const { delivered, succeeded, failed, lastDelivery } = stats
  return { endpointId, delivered, succeeded, failed, lastDelivery: timestamp(lastDelivery) }
}
