// `POST /invokes/{token}/checkpoints`: a runner reports steps while its pass goes on (docs/wire-protocol.md#checkpoints-over-http).
// The route is of the wire protocol, and so neither in the OpenAPI document nor in the client. Called by runners only.

import { isUtf8 } from 'node:buffer'
import type { Operation } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { EngineError } from '../../../domain/model/errors.ts'
import { type MessageMemory, SMALL_MESSAGE_BYTES_MAX } from '../../../ports/message-memory.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { parseJson, rawBodyOf } from '../../request/body.ts'
import { sendJson } from '../../response/reply.ts'

/** The token is the key. */
const REPORT_STEPS = {
  method: 'POST',
  path: '/invokes/{token}/checkpoints',
  summary: 'Report steps of a pass that goes on',
  access: 'public',
  anyQuery: true,
  rawBody: true,
  reply: { status: 200, description: 'The steps are durable' },
} as const satisfies Operation

export function passCheckpointRoutes(app: FastifyInstance, context: HttpContext): void {
  const { httpCheckpoints, messages } = context.deps
  mount(
    app,
    context,
    REPORT_STEPS,
    async (request, reply) => {
      const { token } = request.params as { token: string }
      const body = rawBodyOf(request)
      if (!isUtf8(body)) throw new EngineError('invalid_json', 'the body is not valid UTF-8')
      const release = await readable(messages, body.length)
      const text = body.toString('utf8')
      try {
        return sendJson(reply, 200, await httpCheckpoints.receive(token, text))
      } catch (error) {
        // The fault is looked for only now: most reports can be read.
        if (error instanceof EngineError && error.code === 'invalid_request') parseJson(text)
        throw error
      } finally {
        release?.()
      }
    },
    { config: { rawBody: true } },
  )
}

/** Resolves when there is memory to read so many bytes. */
function readable(messages: MessageMemory, bytes: number): Promise<() => void> | undefined {
  if (bytes <= SMALL_MESSAGE_BYTES_MAX) return undefined
  return new Promise(resolve => messages.request(bytes, resolve))
}
