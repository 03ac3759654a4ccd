// Mounts an operation of the protocol as a route: who may call it, how its query is read and what it streams all
// come from the one description, so the OpenAPI document cannot say anything else.

import type { Operation, QueryParams, QueryValues } from '@perdure/protocol/operations'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { EngineError } from '../domain/errors.ts'
import { admit } from './admit.ts'
import type { HttpContext } from './context.ts'
import { readQuery } from './query.ts'

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
  config?: FastifyContextConfig
}

export function mount<const Op extends Operation>(
  app: FastifyInstance,
  context: HttpContext,
  operation: Op,
  handler: Handler<Op>,
  options: MountOptions = {},
): void {
  const { method, path, reply, query = {} } = operation as Operation
  const url = path.replace(/\{(\w+)\}/g, ':$1')
  if (reply.stream) refuseHead(app, url)
  app.route({
    method,
    url,
    onRequest: admit(context, operation),
    exposeHeadRoute: method === 'GET' && !reply.stream,
    ...options,
    handler: (request, answer) =>
      handler(request, answer, readQuery(request, query) as QueryValues<Params<Op>>),
  })
}

/** A HEAD request would hold a stream open that has no body; and one of `/runs/stream` be taken for the run `stream`. */
function refuseHead(app: FastifyInstance, url: string): void {
  const handler = async (): Promise<never> => {
    throw new EngineError('method_not_allowed', 'a stream has no head to ask for', {
      details: { allow: ['GET'] },
    })
  }
  app.route({ method: 'HEAD', url, config: { refused: true }, handler })
}
