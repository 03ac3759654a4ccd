// The engine's metrics in the text format of Prometheus.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'

const CONTENT_TYPE = `${operations.getMetrics.reply.contentType}; version=0.0.4; charset=utf-8`

export function metricsRoutes(app: FastifyInstance, context: HttpContext): void {
  mount(app, context, operations.getMetrics, async (request, reply) => {
    const text = await context.deps.metrics(request.actor.namespace)
    return reply.code(200).header('content-type', CONTENT_TYPE).send(text)
  })
}
