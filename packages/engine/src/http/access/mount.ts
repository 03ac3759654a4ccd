// Mounts an operation of the protocol as a route. The access, the query and the kind of reply come from the operation, so that
// the OpenAPI document cannot differ. Called by every route file.

import type { Operation, QueryParams, QueryValues } from '@perdure/protocol/operations'
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onErrorAsyncHookHandler,
} from 'fastify'
import { readQuery } from '../request/query.ts'
import { refuseUnknownMembers, refuseUnknownParameters } from '../request/unknown.ts'
import { authorizeRequest } from './authorize.ts'
import type { HttpContext } from './context.ts'
import { answerPreflights, openToPages } from './cors.ts'
import { namesRuns, resolveRunIds } from './run-ids.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route exists only to refuse its method. */
    refused?: true
  }
}

type NoParams = Record<never, never>
type Params<Op extends Operation> = Op extends { query: infer Query extends QueryParams } ? Query : NoParams

export type Handler<Op extends Operation> = (
  request: FastifyRequest,
  reply: FastifyReply,
  query: QueryValues<Params<Op>>,
) => Promise<unknown>

export interface MountOptions {
  bodyLimit?: number
  /** Pages of every origin may call the route. */
  isOpenToPages?: true
  /** Refuses by throwing, before the body and the query are read. */
  refuseEarly?: (request: FastifyRequest) => void
  /** Members that the body must not have, by name, each with the reason. */
  fixed?: Readonly<Record<string, string>>
  config?: FastifyContextConfig
  /** Called when the request was refused, wherever that happened. */
  onError?: onErrorAsyncHookHandler
}

export function mount<const Op extends Operation>(
  app: FastifyInstance,
  context: HttpContext,
  operation: Op,
  handler: Handler<Op>,
  { refuseEarly, fixed = {}, isOpenToPages, ...options }: MountOptions = {},
): void {
  const { method, path, takesSlashes, reply, query = {} } = operation as Operation
  const resolvesRunIds = namesRuns(operation)
  const url = (takesSlashes ? path.replace(/\{\w+\}$/, '*') : path).replace(/\{(\w+)\}/g, ':$1')
  if (isOpenToPages) answerPreflights(app, url)
  const authorize = authorizeRequest(context, operation)
  app.route({
    method,
    url,
    onRequest: isOpenToPages ? [openToPages, authorize] : authorize,
    ...(refuseEarly ? { preParsing: async (request: FastifyRequest) => refuseEarly(request) } : {}),
    // A HEAD request would keep a stream without a body open.
    exposeHeadRoute: method === 'GET' && !reply.stream,
    ...options,
    ...(isOpenToPages && { config: { ...options.config, cors: false } }),
    handler: (request, answer) => {
      refuseUnknownParameters(request, operation)
      refuseUnknownMembers(request, operation, fixed)
      const values = readQuery(request, query) as QueryValues<Params<Op>>
      if (!resolvesRunIds) return handler(request, answer, values)
      return resolveRunIds(context, request, { operation, values })
        .then(() => requireRunOfToken(context, request))
        .then(() => handler(request, answer, values))
    },
  })
}

/** Refuses a run token for a run other than the one in the path. */
function requireRunOfToken({ deps }: HttpContext, { actor, params }: FastifyRequest): Promise<void> | undefined {
  return actor.runToken && deps.runAccess.requireRun(actor.runToken, (params as { id: string }).id)
}
