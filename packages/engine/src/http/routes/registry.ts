// What runners have registered: apps, runners and workflows (contract §4.3).

import { EVENT_BOUNDS } from '@perdure/protocol/schema'
import type { FastifyInstance } from 'fastify'
import { admit } from '../admit.ts'
import { READERS } from '../auth.ts'
import type { HttpContext } from '../context.ts'
import { presentApp, presentRunner, presentWorkflow } from '../present/registry.ts'
import { nameParam, queryOf } from '../query.ts'
import { sendJson } from '../reply.ts'

export function registryRoutes(app: FastifyInstance, context: HttpContext): void {
  const { registry } = context.deps
  const onRequest = admit(context, READERS)

  app.get('/apps', { onRequest }, async (request, reply) => {
    const apps = registry.apps(request.actor.namespace).map(presentApp)
    // By code unit: the order must not depend on the machine's locale.
    apps.sort((a, b) => (a.name < b.name ? -1 : 1))
    return sendJson(reply, 200, JSON.stringify(apps))
  })

  app.get('/runners', { onRequest }, async (request, reply) => {
    const name = nameParam(queryOf(request), 'app', EVENT_BOUNDS.app)
    const runners = registry.runners(request.actor.namespace, name).map(presentRunner)
    return sendJson(reply, 200, JSON.stringify(runners))
  })

  app.get('/workflows', { onRequest }, async (request, reply) => {
    const name = nameParam(queryOf(request), 'app', EVENT_BOUNDS.app)
    const workflows = registry.workflows(request.actor.namespace, name).map(presentWorkflow)
    return sendJson(reply, 200, JSON.stringify(workflows))
  })
}
