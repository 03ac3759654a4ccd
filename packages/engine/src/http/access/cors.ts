// Which web pages may call the interface (decisions, "Configuration": ENGINE_CORS_ORIGINS). Installed by `app.ts`;
// without origins nothing is: browsers then keep every other page's hands off.

import fastifyCors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'

/** How long a browser may remember a preflight's answer. */
const PREFLIGHT_MAX_AGE_S = 600

/** Lets pages of these origins call; `*` alone stands for all. */
export function addCors(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  const options = {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Last-Event-ID'],
    exposedHeaders: ['X-Next-Cursor', 'X-Request-Id'],
    maxAge: PREFLIGHT_MAX_AGE_S,
    strictPreflight: false,
  }
  // Called, not registered: its hook must stand between ours, and nothing here is loaded in the background.
  fastifyCors(app, options, error => {
    if (error) throw error
  })
}

/** Whether a browser asks if it may send a request: never with a key, and answered without one. */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  )
}
