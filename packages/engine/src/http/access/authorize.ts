// The first hook of every route except the probes: logs the request, refuses it while the app drains, counts it as in
// flight, and authenticates the caller. Mounted by mount.ts.

import type { Operation } from '@perdure/protocol/operations'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { shuttingDown } from '../../domain/model/errors.ts'
import { logAccess } from './access-log.ts'
import {
  type AdmitNeeds,
  admit,
  carriesRunToken,
  type GivenCredentials,
  isStillAdmitted,
  isUnknownKey,
} from './admit.ts'
import { credentialsOf } from './auth.ts'
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
    const credentials = credentialsIn(request, operation)
    // A run token is not a guess at a key: a page may send an expired one.
    const authorization = carriesRunToken(credentials) ? undefined : credentials.authorization
    const { remoteAddress } = request.raw.socket
    const letIn = () => {
      request.actor = admit(deps, credentials, needsOf(operation, request))
      done()
    }
    const refuse = (refusal: Error) => done(guesses.counted(refusal, authorization, remoteAddress))
    try {
      guesses.refuseSpent(authorization, remoteAddress)
      letIn()
    } catch (refusal) {
      if (isUnknownKey(refusal, credentials)) deps.keys.reread().then(letIn).catch(refuse)
      else refuse(refusal as Error)
    }
  }
}

/** Ignores `?token=` if the operation has a parameter with that name. */
function credentialsIn(request: FastifyRequest, operation: Operation): GivenCredentials {
  const { token } = request.query as { token?: unknown }
  if (token === undefined || operation.query?.token !== undefined) return request.headers
  return { ...credentialsOf(request.headers), token: String(token) }
}

/** Returns the keys that the request needs: with the flag `readsWith` the operation stores nothing. */
function needsOf(operation: Operation, { query }: FastifyRequest): AdmitNeeds {
  const { readsWith } = operation
  if (readsWith === undefined || (query as Record<string, unknown>)[readsWith] !== '1') return operation
  return { ...operation, alsoReaders: true }
}

/** Returns a check for streams, which outlive changes of the keys: whether the request would still be authorized. */
export function stillAuthorized({ deps }: HttpContext, operation: Operation, request: FastifyRequest): () => boolean {
  const { actor } = request
  const given = credentialsIn(request, operation)
  const credentials = { ...credentialsOf(given), ...(given.token === undefined ? {} : { token: given.token }) }
  return () => isStillAdmitted(actor, deps, credentials, operation)
}
