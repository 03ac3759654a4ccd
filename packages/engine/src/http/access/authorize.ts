// The first hook of every route except the probes: logs the request, refuses it while the app drains, counts it as in
// flight, and authenticates the caller. Mounted by mount.ts.

import type { Operation } from '@perdure/protocol/operations'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { shuttingDown } from '../../domain/model/errors.ts'
import { logAccess } from './access-log.ts'
import { authenticate, credentialsOf, isStillAuthorized, isUnknownKey } from './auth.ts'
import type { HttpContext } from './context.ts'

/** Changes of runs and settings are logged at info; reads and the hot routes only when debugging. */
const levelOf = (operation: Operation): 'debug' | 'info' => (operation.access === 'secret' ? 'info' : 'debug')

export function authorizeRequest({ deps, drain, guesses }: HttpContext, operation: Operation): onRequestHookHandler {
  const logLevel = levelOf(operation)
  return (request, reply, done) => {
    if (!operation.unlogged && deps.log.isLevelEnabled(logLevel)) logAccess(deps.log, logLevel, request, reply)
    if (drain.started) {
      done(shuttingDown())
      return
    }
    drain.enter(reply.raw)
    const { authorization } = request.headers
    const { remoteAddress } = request.raw.socket
    const admit = () => {
      request.actor = authenticate(deps.keys, request.headers, needsOf(operation, request), deps.corsOrigins)
      done()
    }
    const refuse = (refusal: Error) => done(guesses.counted(refusal, authorization, remoteAddress))
    try {
      guesses.refuseSpent(authorization, remoteAddress)
      admit()
    } catch (refusal) {
      if (isUnknownKey(refusal, request.headers)) deps.keys.reread().then(admit).catch(refuse)
      else refuse(refusal as Error)
    }
  }
}

/** The keys that the request needs: with the flag `readsWith` the operation stores nothing. */
function needsOf(operation: Operation, { query }: FastifyRequest): Parameters<typeof authenticate>[2] {
  const { readsWith } = operation
  if (readsWith === undefined || (query as Record<string, unknown>)[readsWith] !== '1') return operation
  return { ...operation, alsoReaders: true }
}

/** A check for streams, which outlive changes of the keys: whether the request would still be authorized. */
export function stillAuthorized({ deps }: HttpContext, operation: Operation, request: FastifyRequest): () => boolean {
  const { actor } = request
  const credentials = credentialsOf(request.headers)
  return () => isStillAuthorized(actor, deps.keys, credentials, operation, deps.corsOrigins)
}
