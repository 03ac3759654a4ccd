// The context that every route file gets: the services it calls, the bounds of the HTTP layer, and the drain.

import type { Actor } from '../../services/commit/audit.ts'
import type { OpenCounts } from '../bounds/open-counts.ts'
import type { HttpLimits } from '../request/limits.ts'
import type { HttpDeps } from './deps.ts'
import type { Drain } from './drain.ts'
import type { KeyGuesses } from './key-guesses.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller and its namespace. Set by `authorizeRequest`, so present on every route except the probes. */
    actor: Actor
  }
}

export interface HttpContext {
  deps: HttpDeps
  limits: HttpLimits
  drain: Drain
  /** The streams that are open. */
  streams: OpenCounts
  guesses: KeyGuesses
}
