// `POST /invokes/{token}/checkpoints` and `/invokes/{token}/streams/{name}`: while its pass continues, a runner reports steps and
// what they write to output streams (docs/wire-protocol.md#checkpoints-over-http). The routes belong to the wire protocol, so
// they are neither in the OpenAPI document nor in the client. Called only by runners.

import { isUtf8 } from 'node:buffer'
import { quoteName, type StreamAck } from '@perdure/protocol'
import type { Operation } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { EngineError, type ErrorCode, invalid } from '../../../domain/model/errors.ts'
import { type MessageMemory, SMALL_MESSAGE_BYTES_MAX } from '../../../ports/message-memory.ts'
import { STREAM_MARK } from '../../../ports/transport.ts'
import type { HttpContext } from '../../access/context.ts'
import { mount } from '../../access/mount.ts'
import { parseJson, rawBodyOf } from '../../request/body.ts'
import { sendJson } from '../../response/reply.ts'

/** The token is the key. */
const REPORT_STEPS = {
  method: 'POST',
  path: '/invokes/{token}/checkpoints',
  summary: 'Report steps of a pass that continues',
  access: 'public',
  anyQuery: true,
  rawBody: true,
  reply: { status: 200, description: 'The steps are durable' },
} as const satisfies Operation

const APPEND_TO_STREAM = {
  ...REPORT_STEPS,
  path: '/invokes/{token}/streams/{name}',
  summary: 'Append to an output stream of a pass that continues',
  reply: { status: 200, description: 'The chunks are durable' },
} as const satisfies Operation

/** Resolves to the answer to a report. */
type Receive = (report: { token: string; name: string; text: string }) => Promise<string>

export function passCheckpointRoutes(app: FastifyInstance, context: HttpContext): void {
  const { httpCheckpoints } = context.deps
  mountReport(app, context, REPORT_STEPS, ({ token, text }) => httpCheckpoints.receive(token, text))
  mountReport(app, context, APPEND_TO_STREAM, async ({ token, name, text }) => {
    const given = (parseJson(text) as { name?: unknown } | null)?.name
    if (given !== name) throw invalid('name', `must match the name in the path, ${quoteName(name)}`)
    const ack = await httpCheckpoints.receive(token, STREAM_MARK + text)
    const { error } = JSON.parse(ack) as StreamAck
    if (error) throw new EngineError(error.code as ErrorCode, error.message)
    return ack
  })
}

function mountReport(app: FastifyInstance, context: HttpContext, operation: Operation, receive: Receive): void {
  const { messages } = context.deps
  mount(
    app,
    context,
    operation,
    async (request, reply) => {
      const { token, name = '' } = request.params as { token: string; name?: string }
      const body = rawBodyOf(request)
      if (!isUtf8(body)) throw new EngineError('invalid_json', 'the body is not valid UTF-8')
      const release = await readable(messages, body.length)
      const text = body.toString('utf8')
      try {
        return sendJson(reply, 200, await receive({ token, name, text }))
      } catch (error) {
        // The fault is searched for only now: most reports can be read.
        if (error instanceof EngineError && error.code === 'invalid_request') parseJson(text)
        throw error
      } finally {
        release?.()
      }
    },
    { config: { rawBody: true } },
  )
}

/** Resolves when there is memory to read this many bytes. */
function readable(messages: MessageMemory, bytes: number): Promise<() => void> | undefined {
  if (bytes <= SMALL_MESSAGE_BYTES_MAX) return undefined
  return new Promise(resolve => messages.request(bytes, resolve))
}
