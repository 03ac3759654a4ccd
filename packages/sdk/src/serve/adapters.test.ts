// Runs the adapter suite on the real frameworks.

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Elysia } from 'elysia'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import type { Registration } from '../runner/registration.ts'
import { type AdapterUnderTest, adapterContract } from './adapter-contract.testkit.ts'
import { perdure as elysiaPlugin } from './elysia.ts'
import { createExpressHandler, serve as serveExpress } from './express.ts'
import { perdure as fastifyPlugin } from './fastify.ts'
import { end, startFetchServer } from './fetch-server.testkit.ts'
import { createHonoHandler, serve as serveHono } from './hono.ts'
import { stopNextHeartbeats } from './next.testkit.ts'
import { serveApiRoute, serve as serveNext } from './next.ts'
import { serve as serveNode } from './node.ts'

type MountOptions = Parameters<AdapterUnderTest['mount']>[0]

async function listen(listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => end(server) }
}

adapterContract('node', {
  framework: 'node',
  mount: options => serveNode({ ...options, port: 0 }),
})

async function mountExpress({ register, ...options }: MountOptions) {
  const app = express()
  const server = await listen(app)
  const url = `${server.url}/invoke`
  let registration: Registration | undefined
  if (register) registration = serveExpress(app, { ...options, url })
  else app.all('/invoke', createExpressHandler(options))
  app.use(express.json())
  return {
    url,
    close: async () => {
      await registration?.leave()
      await server.close()
    },
  }
}

adapterContract('express', { framework: 'express', mount: mountExpress })

adapterContract('fastify', {
  framework: 'fastify',
  async mount(options) {
    const app = fastify()
    app.register(fastifyPlugin, { ...options, prefix: '/api', path: '/perdure' })
    app.post('/other', request => request.body)
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return {
      url: `${url}/api/perdure`,
      close: () => {
        app.server.closeAllConnections()
        return app.close()
      },
    }
  },
})

adapterContract('hono', {
  framework: 'hono',
  async mount({ register, ...options }) {
    const app = new Hono()
    const server = await startFetchServer(request => app.fetch(request))
    const path = '/perdure'
    const url = server.url + path
    const registration = register ? serveHono(app, { ...options, path, url }) : undefined
    if (!registration) app.all(path, createHonoHandler(options))
    return {
      url,
      close: async () => {
        await registration?.leave()
        await server.close()
      },
    }
  },
})

adapterContract('elysia', {
  framework: 'elysia',
  // Elysia listens only on Bun, so `test/scenario/sdk/runtimes.test.ts` tests the rest of its adapter.
  registers: false,
  async mount(options) {
    const app = new Elysia().use(elysiaPlugin(options))
    const server = await startFetchServer(request => app.handle(request))
    return { url: `${server.url}/invoke`, close: server.close }
  },
})

function closeNext(server: { close(): Promise<void> }): Promise<void> {
  stopNextHeartbeats()
  return server.close()
}

adapterContract('next, route handlers', {
  leaves: false,
  framework: 'next',
  getStatus: 503,
  async mount(options) {
    const route = serveNext(options)
    const server = await startFetchServer(
      request => route[request.method as keyof typeof route]?.(request) ?? new Response(null, { status: 405 }),
    )
    const url = `${server.url}/api/perdure`
    if (options.register) await (await fetch(url)).text()
    return { url, close: () => closeNext(server) }
  },
})

adapterContract('next, API route', {
  leaves: false,
  framework: 'next',
  getStatus: 503,
  async mount(options) {
    const server = await listen(serveApiRoute(options))
    const url = `${server.url}/api/perdure`
    if (options.register) await (await fetch(url)).text()
    return { url, close: () => closeNext(server) }
  },
})
