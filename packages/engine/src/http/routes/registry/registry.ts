// `POST /register` (docs/wire-protocol.md#register), and the lists of registered apps, runners and workflows
// (docs/http-api/apps-runners-workflows.md#apps-runners-workflows).

import { type Operation, operations } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { EngineError } from '../../../domain/model/errors.ts'
import type { HttpContext } from '../../access/context.ts'
import { type Handler, mount } from '../../access/mount.ts'
import { bodyOf } from '../../request/body.ts'
import { decodeCursor, encodeCursor, readNumber } from '../../request/cursor.ts'
import { checkRegistration, namingWorkflow } from '../../request/registration.ts'
import { validator } from '../../request/validate.ts'
import { sendJson } from '../../response/reply.ts'
import { presentApp, presentDefinition, presentRunner, presentWorkflow } from './present-registry.ts'

const checkLimits = validator(operations.setWorkflowLimits.body.schema)

export function registryRoutes(app: FastifyInstance, context: HttpContext): void {
  const { registry, loadOf, deletion } = context.deps

  const register: Handler<typeof operations.register> = async (request, reply) => {
    const body = bodyOf(request)?.value
    try {
      const registered = await registry.register(request.actor.namespace, checkRegistration(body))
      return sendJson(reply, 200, JSON.stringify(registered))
    } catch (error) {
      throw namingWorkflow(error, body)
    }
  }
  mount(app, context, operations.register, register, { bodyLimit: context.limits.registerBodyMax })

  mount(app, context, operations.listApps, async (request, reply) => {
    const apps = registry.apps(request.actor.namespace).map(presentApp)
    // By code unit: the order must not depend on the machine's locale.
    apps.sort((a, b) => (a.name < b.name ? -1 : 1))
    return sendJson(reply, 200, JSON.stringify(apps))
  })

  mount(app, context, operations.listRunners, async (request, reply, query) => {
    const runners = registry
      .runners(request.actor.namespace, query.app)
      .map(runner => presentRunner(runner, loadOf(runner)))
    return sendJson(reply, 200, JSON.stringify(runners))
  })

  mount(app, context, operations.listWorkflows, async (request, reply, query) => {
    const workflows = await registry.workflows(request.actor.namespace, query.app)
    return sendJson(reply, 200, JSON.stringify(workflows.map(presentWorkflow)))
  })

  mount(app, context, operations.listDefinitions, async (request, reply, { limit, cursor }) => {
    const { namespace } = request.actor
    const { app: appName, name } = request.params as { app: string; name: string }
    const scope = { kind: 'definitions', namespace, filter: { app: appName, name } } as const
    const before = decodeCursor(cursor, scope, readNumber)
    const page = await registry.definitions({ namespace, app: appName, name }, { limit, before })
    if (!page) throw noWorkflow(appName, name)
    const last = page.definitions.at(-1)
    if (page.more && last) reply.header('x-next-cursor', encodeCursor(scope, [last.registeredAt]))
    return sendJson(reply, 200, JSON.stringify(page.definitions.map(presentDefinition)))
  })

  mount(app, context, operations.deleteWorkflow, async (request, reply, { force }) => {
    const { app: appName, name } = request.params as { app: string; name: string }
    await deletion.workflow(request.actor, { app: appName, name }, force)
    return reply.code(204).send()
  })

  mount(app, context, operations.deleteApp, async (request, reply, { force }) => {
    const { app: appName } = request.params as { app: string }
    await deletion.app(request.actor, appName, force)
    return reply.code(204).send()
  })
  controlRoutes(app, context)
}

/** Operations that change how a workflow starts its runs, and return the workflow. */
function controlRoutes(app: FastifyInstance, context: HttpContext): void {
  const { registry, workflowControl } = context.deps
  const mountControl = (
    operation: Operation,
    act: (request: FastifyRequest, workflow: { app: string; name: string }) => Promise<unknown>,
  ) =>
    mount<Operation>(app, context, operation, async (request, reply) => {
      const { app: appName, name } = request.params as { app: string; name: string }
      await act(request, { app: appName, name })
      const workflow = (await registry.workflows(request.actor.namespace, appName)).find(one => one.name === name)
      if (!workflow) throw noWorkflow(appName, name)
      return sendJson(reply, 200, JSON.stringify(presentWorkflow(workflow)))
    })

  mountControl(operations.pauseWorkflow, ({ actor }, workflow) => workflowControl.pause(actor, workflow))
  mountControl(operations.resumeWorkflow, ({ actor }, workflow) => workflowControl.resume(actor, workflow))
  mountControl(operations.setWorkflowLimits, (request, workflow) => {
    const { concurrency, throttle } = checkLimits(bodyOf(request)?.value)
    const limits = { ...(concurrency != null && { concurrency }), ...(throttle != null && { throttle }) }
    return workflowControl.limit(request.actor, workflow, limits)
  })
  mountControl(operations.removeWorkflowLimits, ({ actor }, workflow) => workflowControl.limit(actor, workflow, {}))
}

function noWorkflow(app: string, name: string): EngineError {
  return new EngineError('not_found', `There is no workflow ${name} of app ${app}.`)
}
