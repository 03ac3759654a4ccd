// Mounts each adapter on a real framework and server, for the adapter suite. The framework or the server is an argument,
// so that the suite runs on several versions of it.

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { AnyElysia } from 'elysia'
import type express from 'express'
import { Hono } from 'hono'
import type { Registration } from '../runner/registration.ts'
import type { AdapterUnderTest } from './adapter-contract.testkit.ts'
import { createExpressHandler, serve as serveExpress } from './express.ts'
import { type FastifyApp, perdure as fastifyPlugin } from './fastify.ts'
import { end } from './fetch-server.testkit.ts'
import { createHonoHandler, serve as serveHono } from './hono.ts'

type MountOptions = Parameters<AdapterUnderTest['mount']>[0]
type Mount = AdapterUnderTest['mount']

/** A server. Only its URL matters. */
export interface ListeningServer {
  /** The URL without a path. */
  readonly url: string
  close(): Promise<void>
}

export async function listen(listener: RequestListener): Promise<ListeningServer> {
  return listening(createServer(listener))
}

/** Starts a server on a free port. */
async function listening(server: ReturnType<typeof createServer>): Promise<ListeningServer> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => end(server) }
}

/** The handler of a Hono app on its server. */
export type StartHono = (
  fetch: (request: Request, env?: unknown) => Response | Promise<Response>,
) => Promise<ListeningServer>

/** `createAdaptorServer` of `@hono/node-server`. */
type CreateServer = (options: { fetch: Parameters<StartHono>[0] }) => unknown

/** Serves a Hono app with a version of `@hono/node-server`. */
export function onNodeServer(create: CreateServer): StartHono {
  return fetch => listening(create({ fetch }) as ReturnType<typeof createServer>)
}

export function mountHono(start: StartHono): Mount {
  return async ({ register, ...options }: MountOptions) => {
    const app = new Hono()
    const server = await start((request, env) => app.fetch(request, env as object))
    const path = '/perdure'
    const url = server.url + path
    const registration = register ? serveHono(app, { ...options, path, url }) : undefined
    if (!registration) app.all(path, createHonoHandler(options))
    return { url, close: () => leaveAndClose(registration, server) }
  }
}

const require = createRequire(import.meta.url)
/** This version has no types; the part that the tests use is the same in both versions. */
export const express4 = require('express-4') as typeof express

export function mountExpress(create: typeof express): Mount {
  return async ({ register, ...options }: MountOptions) => {
    const app = create()
    const server = await listen(app)
    const url = `${server.url}/invoke`
    let registration: Registration | undefined
    if (register) registration = serveExpress(app, { ...options, url })
    else app.all('/invoke', createExpressHandler(options))
    app.use(create.json())
    return { url, close: () => leaveAndClose(registration, server) }
  }
}

/** The part of Fastify that is the same in its versions. */
export interface Fastify {
  register(plugin: (app: FastifyApp, options: never) => Promise<void>, options: object): unknown
  post(path: string, handler: (request: { body: unknown }) => unknown): unknown
  listen(options: { port: number; host: string }): Promise<string>
  readonly server: { closeAllConnections(): void }
  close(): Promise<unknown>
}

export function mountFastify(create: () => unknown): Mount {
  return async options => {
    const app = create() as Fastify
    app.register(fastifyPlugin, { ...options, prefix: '/api', path: '/perdure' })
    app.post('/other', request => request.body)
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const close = () => {
      app.server.closeAllConnections()
      return app.close()
    }
    return { url: `${url}/api/perdure`, close }
  }
}

async function leaveAndClose(registration: Registration | undefined, server: ListeningServer): Promise<void> {
  await registration?.leave()
  await server.close()
}

/** The server that Elysia on Node passes to the callback of `listen`. */
interface ElysiaServer {
  readonly raw: { readonly node: { readonly server: ReturnType<typeof createServer> } }
}

/** Lets an Elysia app on Node listen. `close` also calls its stop handlers, as the adapter does when the process ends. */
export async function startElysiaOnNode(app: AnyElysia, port = 0): Promise<ListeningServer> {
  const server = await new Promise<ElysiaServer>(resolve =>
    app.listen({ port, hostname: '127.0.0.1' }, (server: unknown) => resolve(server as ElysiaServer)),
  )
  const { server: node } = server.raw.node
  if (!node.listening) await once(node, 'listening')
  const close = async () => {
    const { stop = [] } = app.event as { stop?: { fn(): unknown }[] }
    await Promise.all(stop.map(({ fn }) => fn()))
    await end(node)
  }
  return { url: `http://127.0.0.1:${(node.address() as AddressInfo).port}`, close }
}
