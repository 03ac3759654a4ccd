// Mounts an operation of the protocol as a route: who may call it, how its query is read and what it streams all
// come from the one description, so the OpenAPI document cannot say anything else.

import type { Operation, QueryParams, QueryValues } from '@perdure/protocol/operations'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readQuery } from '../request/query.ts'
import { admit } from './admit.ts'
import type { HttpContext } from './context.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is there only to refuse: its method is not offered. */
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
  /** Refuses by throwing, before anything of the body or the query is looked at. */
  refuseEarly?: (request: FastifyRequest) => void
  config?: FastifyContextConfig
}

export function mount<const Op extends Operation>(
  app: FastifyInstance,
  context: HttpContext,
  operation: Op,
  handler: Handler<Op>,
  { refuseEarly, ...options }: MountOptions = {},
): void {
  const { method, path, reply, query = {} } = operation as Operation
  const url = path.replace(/\{(\w+)\}/g, ':$1')
  app.route({
    method,
    url,
    onRequest: admit(context, operation),
    ...(refuseEarly ? { preParsing: async (request: FastifyRequest) => refuseEarly(request) } : {}),
    // A HEAD request would hold a stream open that has no body.
    exposeHeadRoute: method === 'GET' && !reply.stream,
    ...options,
    handler: (request, answer) =>
      handler(request, answer, readQuery(request, query) as QueryValues<Params<Op>>),
  })
}
