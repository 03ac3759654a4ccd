// The first hook of every route but the probes: refuses while draining, counts the request, writes its line in
// the access log, and finds out who asks.

import type { onRequestHookHandler } from 'fastify'
import { EngineError } from '../domain/errors.ts'
import { logAccess } from './access-log.ts'
import { authenticate } from './auth.ts'
import type { HttpContext } from './context.ts'
import type { KeyKind } from './deps.ts'

/** `kinds` of key open the route; its requests are logged at `logLevel`. */
export function admit(
  { deps, drain }: HttpContext,
  kinds: readonly KeyKind[],
  logLevel: 'debug' | 'info' = 'debug',
): onRequestHookHandler {
  return (request, reply, done) => {
    if (deps.log.isLevelEnabled(logLevel)) logAccess(deps.log, logLevel, request, reply)
    if (drain.started) {
      done(new EngineError('unavailable', 'the engine is shutting down'))
      return
    }
    drain.enter(reply.raw)
    let refusal: Error | undefined
    try {
      request.actor = authenticate(deps.keys, request.headers.authorization, kinds)
    } catch (error) {
      refusal = error as Error
    }
    done(refusal)
  }
}
