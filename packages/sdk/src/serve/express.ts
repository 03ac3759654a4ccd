// Serving inside an Express app. Typed by shape, so that this file needs nothing of Express at run time.

import type { ServerResponse } from 'node:http'
import { createHandler, type Handler, type HandlerOptions } from '../handler.ts'
import { type Registration, type RegistrationOptions, startRegistration } from '../registration.ts'
import { createNodeHandler } from './node.ts'
import type { NodeRequest } from './node-body.ts'

/** An Express request handler. */
export type ExpressHandler = (request: NodeRequest, response: ServerResponse) => void

/** The part of an Express app, or of a router, that is used. */
export interface ExpressApp {
  all(path: string, handler: ExpressHandler): unknown
}

/** What to serve in an Express app, and how the engine learns of it. */
export interface ExpressServeOptions extends HandlerOptions, RegistrationOptions {
  /** Path of the invoke endpoint. Default `/invoke`. */
  path?: string
  /** URL the engine reaches the invoke endpoint at: only the app's host knows it. */
  url: string
}

/**
 * `app.post('/invoke', createExpressHandler({ app: 'shop', workflows }))`; registering is left to the caller.
 *
 * Signatures are over the raw body: mount the handler before `express.json()`, or after one that keeps the bytes
 * (`express.json({ verify: (request, _, bytes) => { request.rawBody = bytes } })`). A body whose bytes are gone is
 * answered with a 500 that says so.
 */
export function createExpressHandler(options: HandlerOptions | Handler): ExpressHandler {
  return createNodeHandler(options)
}

/** Adds the invoke endpoint to an Express app and registers it with the engine. Call it before `express.json()`. */
export function serve(express: ExpressApp, options: ExpressServeOptions): Registration {
  const handler = createHandler(options)
  express.all(options.path ?? '/invoke', createExpressHandler(handler))
  return startRegistration(handler, { url: options.url, framework: 'express' }, options)
}
