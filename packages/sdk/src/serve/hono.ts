// Serving inside a Hono app. Typed by shape, so that this file needs nothing of Hono at run time.

import { createHandler, type Handler, type HandlerOptions } from '../handler.ts'
import { type Registration, type RegistrationOptions, startRegistration } from '../registration.ts'
import { createFetchHandler } from './fetch.ts'

/** A Hono route handler. */
export type HonoHandler = (context: { req: { raw: Request } }) => Promise<Response>

/** The part of a Hono app that is used. */
export interface HonoApp {
  all(path: string, handler: HonoHandler): unknown
}

/** What to serve in a Hono app, and how the engine learns of it. */
export interface HonoServeOptions extends HandlerOptions, RegistrationOptions {
  /** Path of the invoke endpoint. Default `/invoke`. */
  path?: string
  /** URL the engine reaches the invoke endpoint at: only the app's host knows it. */
  url: string
}

/** `app.post('/invoke', createHonoHandler({ app: 'shop', workflows }))`; registering is left to the caller. */
export function createHonoHandler(options: HandlerOptions | Handler): HonoHandler {
  const handle = createFetchHandler(options)
  return context => handle(context.req.raw)
}

/** Adds the invoke endpoint to a Hono app and registers it with the engine. */
export function serve(hono: HonoApp, options: HonoServeOptions): Registration {
  const handler = createHandler(options)
  hono.all(options.path ?? '/invoke', createHonoHandler(handler))
  return startRegistration(handler, { url: options.url, framework: 'hono' }, options)
}
