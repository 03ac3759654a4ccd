// The probes (contract §4.7): no key, no access log, and served while draining.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { Readiness } from '../../../services/admin/health.ts'
import type { HttpContext } from '../../access/context.ts'
import { sendJson } from '../../response/reply.ts'

export function healthRoutes(app: FastifyInstance, { deps, drain }: HttpContext): void {
  app.get(operations.getHealth.path, (_request, reply) => sendJson(reply, 200, '{"status":"ok"}'))

  app.get(operations.getReadiness.path, async (_request, reply) => {
    const { ready, checks, draining } = await probe()
    if (ready && !draining && !drain.started) {
      return sendJson(reply, 200, JSON.stringify({ status: 'ready', checks }))
    }
    const body = { status: 'not_ready', checks, draining: draining || drain.started || undefined }
    return sendJson(reply, 503, JSON.stringify(body))
  })

  /** A probe that itself fails means that nothing is known to work; why belongs in the log alone. */
  async function probe(): Promise<Readiness> {
    try {
      return await deps.health.check()
    } catch (err) {
      deps.log.error({ err }, 'readiness probe failed')
      return { ready: false, checks: { store: 'unavailable' }, draining: false }
    }
  }
}
