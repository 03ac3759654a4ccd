// Serving inside a Fastify app, as a plugin. Typed by shape, so that this file needs nothing of Fastify at run time.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createHandler, type HandlerOptions } from '../handler.ts'
import { type Registration, type RegistrationOptions, startRegistration } from '../registration.ts'
import { createNodeHandler, urlOf } from './node.ts'

/** What to serve in a Fastify app, and how the engine learns of it. */
export interface FastifyPluginOptions extends HandlerOptions, RegistrationOptions {
  /** Path of the invoke endpoint, below the plugin's prefix. Default `/invoke`. */
  path?: string
  /** URL the engine reaches the invoke endpoint at. Default: where the app listens, once it does. */
  url?: string
  /** Register with the engine. Default true. */
  register?: boolean
}

/** The part of a Fastify instance that is used. */
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
    handler: (request: FastifyRequest, reply: FastifyReply) => void
  }): unknown
}

/** Over HTTP/1; Fastify's own type leaves HTTP/2 open, whose requests Node serves by the same interface. */
interface FastifyRequest {
  readonly raw: unknown
}

interface FastifyReply {
  readonly raw: unknown
  hijack(): unknown
}

/**
 * `app.register(perdure, { app: 'shop', workflows })`: adds the invoke endpoint, registers it with the engine once
 * the app listens (with a `url` of its own: once it is ready), and stops registering when the app closes.
 *
 * Within the plugin no body is parsed, since signatures are over the raw bytes; parsers elsewhere stay as they are.
 */
export async function perdure(fastify: FastifyApp, options: FastifyPluginOptions): Promise<void> {
  const { path = '/invoke' } = options
  const handler = createHandler(options)
  const answer = createNodeHandler(handler)
  fastify.removeAllContentTypeParsers()
  fastify.addContentTypeParser('*', (_request, _payload, done) => done(null))
  fastify.route({
    method: ['GET', 'POST', 'PUT', 'DELETE'],
    url: path,
    handler(request, reply) {
      reply.hijack()
      answer(request.raw as IncomingMessage, reply.raw as ServerResponse)
    },
  })
  if (options.register === false) return
  let registration: Registration | undefined
  const begin = async (): Promise<void> => {
    const url = options.url ?? urlOf(fastify.server, `${fastify.prefix}${path}`)
    registration = startRegistration(handler, { url, framework: 'fastify' }, options)
  }
  if (options.url === undefined) fastify.addHook('onListen', begin)
  else fastify.addHook('onReady', begin)
  fastify.addHook('onClose', async () => registration?.stop())
}
