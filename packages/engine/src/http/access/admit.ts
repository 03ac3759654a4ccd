// The first hook of every route but the probes: refuses while draining, counts the request, writes its line in
// the access log, and finds out who asks.

import type { Operation } from '@perdure/protocol/operations'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { EngineError } from '../../domain/model/errors.ts'
import { logAccess } from './access-log.ts'
import { authenticate, isStillAdmitted } from './auth.ts'
import type { HttpContext } from './context.ts'

/** What people do to runs and settings is worth a line each; reads and the hot routes only when debugging. */
const levelOf = (operation: Operation): 'debug' | 'info' => (operation.access === 'secret' ? 'info' : 'debug')

export function admit({ deps, drain }: HttpContext, operation: Operation): onRequestHookHandler {
  const logLevel = levelOf(operation)
  return (request, reply, done) => {
    if (!operation.unlogged && deps.log.isLevelEnabled(logLevel))
      logAccess(deps.log, logLevel, request, reply)
    if (drain.started) {
      done(new EngineError('unavailable', 'the engine is shutting down'))
      return
    }
    drain.enter(reply.raw)
    let refusal: Error | undefined
    try {
      request.actor = authenticate(deps.keys, request.headers, operation, deps.corsOrigins)
    } catch (error) {
      refusal = error as Error
    }
    done(refusal)
  }
}

/** For what stays open behind a request: whether it would still be let in. */
export function admission(
  { deps }: HttpContext,
  operation: Operation,
  request: FastifyRequest,
): () => boolean {
  const { actor } = request
  const { authorization, host, origin } = request.headers
  return () => isStillAdmitted(actor, deps.keys, { authorization, host, origin }, operation, deps.corsOrigins)
}
