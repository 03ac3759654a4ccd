// What every route file is given: the faces it calls, the bounds it keeps, and the drain it takes part in.

import type { Actor } from '../../services/run/audit.ts'
import type { HttpLimits } from '../request/limits.ts'
import type { HttpDeps } from './deps.ts'
import type { Drain } from './drain.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, and in which namespace. Set by `admit`, so present on every route but the probes. */
    actor: Actor
  }
}

export interface HttpContext {
  deps: HttpDeps
  limits: HttpLimits
  drain: Drain
}
