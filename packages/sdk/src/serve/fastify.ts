// `@perdure/sdk/fastify`: serves inside a Fastify app, as a plugin. Fastify is typed by shape, so this file does not
// import it.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { OptionNames } from '@perdure/client/internal'
import { createHandlerFor, type HandlerOptions } from '../runner/handler.ts'
import { ADAPTER_OPTIONS, counted, type SignalOptions, startLeavingOnSignals } from '../runner/leave-on-signals.ts'
import type { Registration, RegistrationOptions } from '../runner/registration.ts'
import { createNodeHandler } from './node.ts'
import { urlOf } from './own-server.ts'

/** The workflows to serve in a Fastify app, and how they are registered. */
export interface FastifyPluginOptions extends HandlerOptions, RegistrationOptions, SignalOptions {
  /** Path of the invoke endpoint, below the plugin's prefix. Default `/invoke`. */
  path?: string
  /** URL at which the engine reaches the invoke endpoint. Default: the address at which the app listens. */
  url?: string
  /** Register with the engine. Default true. */
  register?: boolean
}

/** Fastify's own options of a plugin, which it passes on. */
const OF_FASTIFY = { prefix: true, logLevel: true, logSerializers: true, encapsulate: true }
const OPTIONS: OptionNames<FastifyPluginOptions> = { ...ADAPTER_OPTIONS, register: true }

/** The part of a Fastify instance that the plugin uses. */
export interface FastifyApp {
  readonly prefix: string
  readonly server: Pick<Server, 'address'>
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    contentType: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): unknown
  addHook(name: 'onListen', hook: () => Promise<void>): unknown
  addHook(name: 'onReady', hook: () => Promise<void>): unknown
  addHook(name: 'onClose', hook: () => Promise<void>): unknown
  route(options: {
    method: string[]
    url: string
    /** `raw` is untyped: Fastify's type also allows HTTP/2 requests, which Node serves with the same interface. */
    handler: (
      request: { readonly raw: unknown; readonly rawBody?: unknown },
      reply: { readonly raw: unknown; hijack(): unknown },
    ) => void
  }): unknown
}

/**
 * The plugin: `app.register(perdure, { app: 'shop', workflows })`. It adds the invoke endpoint, registers it with the
 * engine when the app starts to listen (with the option `url`: when the app is ready), and leaves when the
 * app closes.
 *
 * The plugin parses no body, since signatures are over the raw bytes. Parsers of the rest of the app are not changed.
 */
export async function perdure(fastify: FastifyApp, options: FastifyPluginOptions): Promise<void> {
  const { path = '/invoke' } = options
  const handler = counted(createHandlerFor('perdure', options, { ...OPTIONS, ...OF_FASTIFY }))
  const answer = createNodeHandler(handler)
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null))
  fastify.route({
    method: ['GET', 'POST', 'PUT', 'DELETE'],
    url: path,
    handler(request, reply) {
      reply.hijack()
      const { raw, rawBody } = request
      // A hook that reads the body keeps its bytes in Fastify's request.
      const read = rawBody === undefined ? raw : Object.assign(raw as object, { rawBody })
      answer(read as IncomingMessage, reply.raw as ServerResponse)
    },
  })
  fastify.addHook('onListen', async () => {
    const address = fastify.server.address()
    if (typeof address === 'object' && address !== null) handler.listensOn(address.address)
  })
  if (options.register === false) return
  let registration: Registration | undefined
  const begin = async (): Promise<void> => {
    const url = options.url ?? urlOf(fastify.server, `${fastify.prefix}${path}`)
    registration = startLeavingOnSignals(handler, { url, framework: 'fastify' }, options)
  }
  if (options.url === undefined) fastify.addHook('onListen', begin)
  else fastify.addHook('onReady', begin)
  fastify.addHook('onClose', async () => registration?.leave())
}
