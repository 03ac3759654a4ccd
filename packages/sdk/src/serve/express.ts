// `@perdure/sdk/express`: serves inside an Express app. Express is typed by shape, so this file does not import it.

import type { ServerResponse } from 'node:http'
import type { OptionNames } from '@perdure/client/internal'
import { createHandlerFor, type Handler, type HandlerOptions } from '../runner/handler.ts'
import { ADAPTER_OPTIONS, counted, type SignalOptions, startLeavingOnSignals } from '../runner/leave-on-signals.ts'
import type { Registration, RegistrationOptions } from '../runner/registration.ts'
import { createNodeHandler } from './node.ts'
import type { NodeRequest } from './node-body.ts'

/** An Express request handler. */
export type ExpressHandler = (request: NodeRequest, response: ServerResponse) => void

/** The part of an Express app, or of a router, that the adapter uses. */
export interface ExpressApp {
  all(path: string, handler: ExpressHandler): unknown
}

/** The workflows to serve in an Express app, and how they are registered. */
export interface ExpressServeOptions extends HandlerOptions, RegistrationOptions, SignalOptions {
  /** Path of the invoke endpoint. Default `/invoke`. */
  path?: string
  /** URL at which the engine reaches the invoke endpoint. The adapter cannot know it. */
  url: string
}

const OPTIONS: OptionNames<ExpressServeOptions> = ADAPTER_OPTIONS

/**
 * Creates a handler: `app.post('/invoke', createExpressHandler({ app: 'shop', workflows }))`. The caller registers the
 * app.
 *
 * Signatures are over the raw body: mount the handler before `express.json()`, or after one that keeps the bytes
 * (`express.json({ verify: (request, _, bytes) => { request.rawBody = bytes } })`). A request without its raw body gets
 * a 500 that explains this.
 */
export function createExpressHandler(options: HandlerOptions | Handler): ExpressHandler {
  return createNodeHandler(options)
}

/** Adds the invoke endpoint to an Express app and registers it with the engine. Call it before `express.json()`. */
export function serve(express: ExpressApp, options: ExpressServeOptions): Registration {
  const handler = counted(createHandlerFor('serve', options, OPTIONS))
  express.all(options.path ?? '/invoke', createExpressHandler(handler))
  return startLeavingOnSignals(handler, { url: options.url, framework: 'express' }, options)
}
