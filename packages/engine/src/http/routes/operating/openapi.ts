// The OpenAPI document. It never changes while the process lives, so its text is made once, when first asked for.

import { openApiDocument } from '@perdure/protocol/openapi'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { ENGINE_VERSION } from '../../../base/version.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { sendJson } from '../../response/reply.ts'

export function openApiRoutes(app: FastifyInstance, context: HttpContext): void {
  let text: string | undefined
  mount(app, context, operations.getOpenapi, async (_request, reply) => {
    text ??= JSON.stringify(openApiDocument(ENGINE_VERSION))
    return sendJson(reply, 200, text)
  })
}
