// One line per finished request. Called by `admit` (and for unknown routes by `app.ts`) when the level is on,
// so that a level that is off costs nothing. Never a URL, a header or a body: those may hold secrets.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'

/** Logs method, route, status and duration once the response is written out or its connection is gone. */
export function logAccess(
  log: Logger,
  level: 'debug' | 'info',
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const startedAt = performance.now()
  const response = reply.raw
  const finished = (): void => tell()
  const closed = (): void => tell(true)
  const tell = (aborted?: true): void => {
    response.off('finish', finished).off('close', closed)
    log[level](
      {
        method: request.method,
        route: request.routeOptions.url,
        status: response.statusCode,
        durationMs: Math.round(performance.now() - startedAt),
        // The client went away before it had the whole answer.
        aborted,
        requestId: request.id,
      },
      'request',
    )
  }
  response.on('finish', finished).on('close', closed)
}
