// `POST /callbacks/{token}`: an outsider completes a step of a run (docs/steps.md#callbacks). The token is the key. Pages of any
// origin may post, because strangers get the URL.

import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { bodyOf } from '../../request/body.ts'
import { sendJson } from '../../response/reply.ts'

const BODY_BYTES_MAX = 1024 * 1024

export function callbackRoutes(app: FastifyInstance, context: HttpContext): void {
  const { callbacks } = context.deps
  mount(
    app,
    context,
    operations.completeCallback,
    async (request, reply) => {
      const { token } = request.params as { token: string }
      const body = bodyOf(request)
      // `null` is the result of a callback that timed out.
      await callbacks.post(token, body === undefined || body.value === null ? '{}' : body.text)
      return sendJson(reply, 202, '{"ok":true}')
    },
    { bodyLimit: BODY_BYTES_MAX, isOpenToPages: true },
  )
}
