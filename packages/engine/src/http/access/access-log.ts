// Logs one line for each finished request. Called by authorize.ts (and by app.ts for requests without a route) when the level is
// on; a level that is off costs nothing. Never logs a URL, a header or a body: they may hold secrets.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'

/** Logs method, route, status and duration when the response is written or its connection is closed. */
export function logAccess(log: Logger, level: 'debug' | 'info', request: FastifyRequest, reply: FastifyReply): void {
  const startedAt = performance.now()
  const response = reply.raw
  const finished = (): void => write()
  const closed = (): void => write(true)
  const write = (aborted?: true): void => {
    response.off('finish', finished).off('close', closed)
    log[level](
      {
        method: request.method,
        route: request.routeOptions.url,
        status: response.statusCode,
        durationMs: Math.round(performance.now() - startedAt),
        // The client left before it received the whole answer.
        aborted,
        requestId: request.id,
      },
      'request',
    )
  }
  response.on('finish', finished).on('close', closed)
}
