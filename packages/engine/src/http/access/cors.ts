// Lets the web pages of `ENGINE_CORS_ORIGINS` call the interface (docs/operating.md#settings). Installed by app.ts; without
// origins nothing is installed, and browsers refuse pages of every other origin.

import fastifyCors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route has its own hooks for pages of other origins. */
    cors?: false
  }
}

/** How long a browser may cache the answer to a preflight. */
const PREFLIGHT_MAX_AGE_S = 600

/** Headers of output streams that a page reads. */
const STREAM_HEADERS = ['ETag', 'Stream-Next-Offset', 'Stream-Cursor', 'Stream-Up-To-Date', 'Stream-Closed']

/** Lets pages of these origins call; `*` stands for all. */
export function addCors(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  const options = {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'If-None-Match', 'Last-Event-ID'],
    exposedHeaders: ['X-Next-Cursor', 'X-Request-Id', 'X-Scanned-To', 'X-Event-Id', 'X-Run-Id', ...STREAM_HEADERS],
    maxAge: PREFLIGHT_MAX_AGE_S,
    strictPreflight: false,
  }
  // Called, not registered: its hook must run between ours, and registering is asynchronous.
  fastifyCors(app, options, error => {
    if (error) throw error
  })
}

/** Lets pages of every origin call a route and read its refusals, never with credentials. A hook that must run first. */
export const openToPages: onRequestHookHandler = (_request, reply, done) => {
  reply.header('access-control-allow-origin', '*')
  done()
}

/** Answers the preflights of a route that is open to all pages. */
export function answerPreflights(app: FastifyInstance, url: string): void {
  app.route({
    method: 'OPTIONS',
    url,
    config: { cors: false },
    onRequest: openToPages,
    handler: async (_request, reply) =>
      reply
        .headers({
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'Content-Type',
          'access-control-max-age': PREFLIGHT_MAX_AGE_S,
        })
        .code(204)
        .send(),
  })
}

/** Whether the request is a preflight: browsers send it without a key, and it is answered without one. */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}
