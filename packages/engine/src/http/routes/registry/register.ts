// `POST /register`: runners register and send heartbeats (docs/wire-protocol.md#register).

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { HttpContext } from '../../access/context.ts'
import { type Handler, mount } from '../../access/mount.ts'
import { bodyOf } from '../../request/body.ts'
import { checkRegistration } from '../../request/registration.ts'
import { sendJson } from '../../response/reply.ts'

export function registerRoutes(app: FastifyInstance, context: HttpContext): void {
  const answer: Handler<typeof operations.register> = async (request, reply) => {
    const registration = checkRegistration(bodyOf(request)?.value)
    const registered = await context.deps.registry.register(request.actor.namespace, registration)
    return sendJson(reply, 200, JSON.stringify(registered))
  }
  mount(app, context, operations.register, answer, { bodyLimit: context.limits.registerBodyMax })
}
