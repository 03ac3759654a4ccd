// `POST /mcp`: the engine as a server of the Model Context Protocol, over its Streamable HTTP transport without sessions
// (docs/mcp.md). The route belongs to that protocol, so it is neither in the OpenAPI document nor in the client. Mounted by
// app.ts.

import { isUtf8 } from 'node:buffer'
import type { Operation } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { EngineError } from '../../domain/model/errors.ts'
import { isDeeperThan, JSON_DEPTH_MAX } from '../../domain/text/json-text.ts'
import { KINDS } from '../access/auth.ts'
import { stillAuthorized } from '../access/authorize.ts'
import type { HttpContext } from '../access/context.ts'
import { mount } from '../access/mount.ts'
import { rawBodyOf } from '../request/body.ts'
import { sendJson } from '../response/reply.ts'
import { LateStream } from './late-stream.ts'
import { answerMessage, type Caller } from './messages.ts'
import { RpcFault } from './rpc.ts'
import type { MirrorHeaders } from './versions.ts'

const MCP = {
  method: 'POST',
  path: '/mcp',
  summary: 'Answer a message of the Model Context Protocol',
  access: 'read',
  query: { write: { kind: 'flag', description: 'Also offer the tools that write; needs a secret key' } },
  rawBody: true,
  reply: { status: 200, description: 'The answer' },
} as const satisfies Operation

/** Levels of a message above a payload: the message, its params and the arguments. */
const MESSAGE_LEVELS = 3

/** Installs the route. */
export function mcpRoute(app: FastifyInstance, context: HttpContext): void {
  const { corsOrigins } = context.deps
  mount(
    app,
    context,
    MCP,
    async (request, reply, { write }) => {
      refuseReaders(request, write)
      const message = messageOf(rawBodyOf(request))
      if (message === undefined) {
        const { error } = new RpcFault('parse', UNREADABLE)
        return sendJson(reply, 400, JSON.stringify({ jsonrpc: '2.0', id: null, error }))
      }
      const stream = new LateStream(context, request, reply, stillAuthorized(context, MCP, request))
      const answer = await answerMessage(app, message.value, { ...callerOf(request, write), ...stream.caller })
      if (stream.end(answer.reply)) return reply
      if (!answer.reply) return reply.code(answer.status).send()
      return sendJson(reply, answer.status, JSON.stringify(answer.reply))
    },
    { config: { rawBody: true }, refuseEarly: request => refuseForeignOrigin(request, corsOrigins) },
  )
}

const UNREADABLE = `the body must be JSON in UTF-8, of at most ${JSON_DEPTH_MAX + MESSAGE_LEVELS} levels`

function messageOf(body: Buffer): { value: unknown } | undefined {
  if (!isUtf8(body)) return undefined
  const text = body.toString('utf8')
  if (isDeeperThan(text, JSON_DEPTH_MAX + MESSAGE_LEVELS)) return undefined
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Only a secret key may use the tools that write. An engine without keys is open. */
function refuseReaders({ actor: { kind } }: FastifyRequest, write: boolean): void {
  if (!write || kind === undefined || KINDS.secret.includes(kind)) return
  throw new EngineError('forbidden', `write=1 needs a secret key, and this one is of kind ${kind}`)
}

/** The tools are called with the caller's own key, so that access, audit and limits are the same as for any request. */
function callerOf({ headers }: FastifyRequest, mayWrite: boolean): Omit<Caller, 'signal' | 'notify'> {
  const { authorization, host, origin } = headers
  const all = { authorization, host, origin }
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { mayWrite, headers: Object.fromEntries(given), mirrors: headers as MirrorHeaders }
}

/** A page of another origin must not reach the server through a browser on this machine (DNS rebinding). */
function refuseForeignOrigin({ headers: { origin, host } }: FastifyRequest, corsOrigins: readonly string[]): void {
  if (origin === undefined || corsOrigins.includes('*') || corsOrigins.includes(origin)) return
  if (URL.canParse(origin) && new URL(origin).host === host) return
  throw new EngineError('forbidden', 'pages of this origin are not served: list it in ENGINE_CORS_ORIGINS')
}
