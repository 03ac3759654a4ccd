// Runs the adapter suite on the real frameworks. `servers.test.ts` runs it on the servers and versions that they are deployed with.

import { Elysia } from 'elysia'
import express from 'express'
import { fastify } from 'fastify'
import { adapterContract } from './adapter-contract.testkit.ts'
import { perdure as elysiaPlugin } from './elysia.ts'
import { startFetchServer } from './fetch-server.testkit.ts'
import { listen, mountExpress, mountFastify, mountHono } from './mounts.testkit.ts'
import { stopNextHeartbeats } from './next.testkit.ts'
import { serveApiRoute, serve as serveNext } from './next.ts'
import { serve as serveNode } from './node.ts'

adapterContract('node', {
  framework: 'node',
  mount: options => serveNode({ ...options, port: 0 }),
})

adapterContract('express', { framework: 'express', mount: mountExpress(express) })

adapterContract('fastify', { framework: 'fastify', mount: mountFastify(fastify) })

adapterContract('hono', { framework: 'hono', mount: mountHono(startFetchServer) })

adapterContract('elysia', {
  framework: 'elysia',
  // Here Elysia does not listen: `servers.test.ts` and `test/scenario/sdk/runtimes.test.ts` test the rest of its adapter.
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
