// What runners have registered: apps, runners and workflows (contract §4.3).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { sendJson } from '../../response/reply.ts'
import { presentApp, presentRunner, presentWorkflow } from './present-registry.ts'

export function registryRoutes(app: FastifyInstance, context: HttpContext): void {
  const { registry } = context.deps

  mount(app, context, operations.listApps, async (request, reply) => {
    const apps = registry.apps(request.actor.namespace).map(presentApp)
    // By code unit: the order must not depend on the machine's locale.
    apps.sort((a, b) => (a.name < b.name ? -1 : 1))
    return sendJson(reply, 200, JSON.stringify(apps))
  })

  mount(app, context, operations.listRunners, async (request, reply, query) => {
    const runners = registry.runners(request.actor.namespace, query.app).map(presentRunner)
    return sendJson(reply, 200, JSON.stringify(runners))
  })

  mount(app, context, operations.listWorkflows, async (request, reply, query) => {
    const workflows = await registry.workflows(request.actor.namespace, query.app)
    return sendJson(reply, 200, JSON.stringify(workflows.map(presentWorkflow)))
  })
}
