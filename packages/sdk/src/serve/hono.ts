// `@perdure/sdk/hono`: serves inside a Hono app. Hono is typed by shape, so this file does not import it.

import type { OptionNames } from '@perdure/client/internal'
import { createHandlerFor, type Handler, type HandlerOptions } from '../runner/handler.ts'
import { ADAPTER_OPTIONS, counted, type SignalOptions, startLeavingOnSignals } from '../runner/leave-on-signals.ts'
import type { Registration, RegistrationOptions } from '../runner/registration.ts'
import { createKeptBodyHandler } from './fetch.ts'
import { asBytes } from './node-body.ts'

/** A Hono route handler. */
export type HonoHandler = (context: { req: HonoRequest; env?: unknown }) => Promise<Response>

/** The part of Hono's request that the adapter uses. */
export interface HonoRequest {
  readonly raw: Request
  /** The forms in which middleware has read the body. */
  readonly bodyCache?: object
}

/** The part of a Hono app that the adapter uses. */
export interface HonoApp {
  all(path: string, handler: HonoHandler): unknown
}

/** The workflows to serve in a Hono app, and how they are registered. */
export interface HonoServeOptions extends HandlerOptions, RegistrationOptions, SignalOptions {
  /** Path of the invoke endpoint. Default `/invoke`. */
  path?: string
  /** URL at which the engine reaches the invoke endpoint. The adapter cannot know it. */
  url: string
}

const OPTIONS: OptionNames<HonoServeOptions> = ADAPTER_OPTIONS

/**
 * Creates a handler: `app.post('/invoke', createHonoHandler({ app: 'shop', workflows }))`. The caller registers the app.
 */
export function createHonoHandler(options: HandlerOptions | Handler): HonoHandler {
  const handle = createKeptBodyHandler(options)
  return ({ req, env }) => handle(req.raw, env, () => bodyRead(req))
}

/** Returns the body that middleware has read as text or bytes. Parsed JSON no longer has the bytes. */
async function bodyRead({ bodyCache = {} }: HonoRequest): Promise<Uint8Array | undefined> {
  const { text, arrayBuffer, blob } = bodyCache as {
    text?: unknown
    arrayBuffer?: unknown
    blob?: Promise<Blob> | Blob
  }
  return asBytes(await text) ?? asBytes(await arrayBuffer) ?? asBytes(await (await blob)?.arrayBuffer())
}

/** Adds the invoke endpoint to a Hono app and registers it with the engine. */
export function serve(hono: HonoApp, options: HonoServeOptions): Registration {
  const handler = counted(createHandlerFor('serve', options, OPTIONS))
  hono.all(options.path ?? '/invoke', createHonoHandler(handler))
  return startLeavingOnSignals(handler, { url: options.url, framework: 'hono' }, options)
}
