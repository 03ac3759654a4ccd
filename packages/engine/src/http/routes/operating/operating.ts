// The probes (docs/operating.md#probes), the metrics, the list of engines and the OpenAPI document. The probes need no key, are not logged, and
// answer during the drain.

import type { Engine } from '@perdure/protocol'
import { openApiDocument } from '@perdure/protocol/openapi'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { ENGINE_VERSION } from '../../../base/version.ts'
import { optionalTimestamp, timestamp } from '../../../domain/text/timestamp.ts'
import type { ListedEngine } from '../../../services/admin/engines.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { sendJson } from '../../response/reply.ts'

const METRICS_TYPE = `${operations.getMetrics.reply.contentType}; version=0.0.4; charset=utf-8`

export function operatingRoutes(app: FastifyInstance, context: HttpContext): void {
  const { deps, drain } = context

  app.get(operations.getHealth.path, (_request, reply) => sendJson(reply, 200, '{"status":"ok"}'))

  app.get(operations.getReadiness.path, async (_request, reply) => {
    const { ready, checks, draining, held } = await deps.health.check()
    if (ready && !draining && !drain.started) {
      return sendJson(reply, 200, JSON.stringify({ status: 'ready', checks }))
    }
    const isDraining = draining || drain.started
    const body = { status: 'not_ready', checks, draining: isDraining || undefined, held: held || undefined }
    return sendJson(reply, 503, JSON.stringify(body))
  })

  mount(app, context, operations.getMetrics, async (request, reply) => {
    const text = await deps.metrics(request.actor.namespace)
    return reply.code(200).header('content-type', METRICS_TYPE).send(text)
  })

  mount(app, context, operations.listEngines, async (_request, reply) => {
    const engines = await deps.engines.list()
    return sendJson(reply, 200, JSON.stringify(engines.map(presentEngine)))
  })

  mount(app, context, operations.releaseEngine, async (request, reply) => {
    await deps.release.release(request.actor)
    return sendJson(reply, 200, '{"held":false}')
  })

  // The document never changes while the process lives.
  let document: string | undefined
  mount(app, context, operations.getOpenapi, async (_request, reply) => {
    document ??= JSON.stringify(openApiDocument(ENGINE_VERSION))
    return sendJson(reply, 200, document)
  })
}

function presentEngine(engine: ListedEngine): Engine {
  const { id, isSelf, version, host, pid, startedAt, seenAt, isDraining, isHeld, lanes, prunedUpTo, ...rest } = engine
  const { sockets, streams, checks, writes, queue, limiter, limiterEntries, settings } = rest
  return {
    ...{ id, self: isSelf, version, host, pid },
    startedAt: timestamp(startedAt),
    seenAt: timestamp(seenAt),
    draining: isDraining,
    ...(isHeld && { held: true as const }),
    inFlight: lanes.find(({ lane }) => lane === 'runs')?.inFlight ?? 0,
    ...{ lanes, sockets, streams, checks, writes, queue, limiter, limiterEntries, settings },
    removedUpTo: prunedUpTo && {
      runs: optionalTimestamp(prunedUpTo.runs),
      events: optionalTimestamp(prunedUpTo.events),
      deliveries: optionalTimestamp(prunedUpTo.deliveries),
    },
  }
}
