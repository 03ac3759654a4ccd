// Mounts an operation of the protocol as a route: who may call it, how its query is read and what it streams all
// come from the one description, so the OpenAPI document cannot say anything else.

import type { Operation, QueryParams, QueryValues } from '@perdure/protocol/operations'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { admit } from './admit.ts'
import type { HttpContext } from './context.ts'
import { readQuery } from './query.ts'

type NoParams = Record<never, never>
type Params<Op extends Operation> = Op extends { query: infer Query extends QueryParams } ? Query : NoParams

export type Handler<Op extends Operation> = (
  request: FastifyRequest,
  reply: FastifyReply,
  query: QueryValues<Params<Op>>,
) => Promise<unknown>

export interface MountOptions {
  bodyLimit?: number
}

export function mount<const Op extends Operation>(
  app: FastifyInstance,
  context: HttpContext,
  operation: Op,
  handler: Handler<Op>,
  options: MountOptions = {},
): void {
  const { method, path, reply, query = {} } = operation as Operation
  app.route({
    method,
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    onRequest: admit(context, operation),
    // A HEAD request would hold a stream open that has no body.
    exposeHeadRoute: method === 'GET' && !reply.stream,
    ...options,
    handler: (request, answer) =>
      handler(request, answer, readQuery(request, query) as QueryValues<Params<Op>>),
  })
}
