// Runs the adapter suite on the servers, and the versions of frameworks, that people deploy an adapter with.

import { node as elysiaOnNode } from '@elysiajs/node'
import { createAdaptorServer as newest } from '@hono/node-server'
import { Elysia } from 'elysia'
import { fastify as fastify4 } from 'fastify-4'
import { createAdaptorServer as v1_13 } from 'hono-node-server-1.13'
import { createAdaptorServer as v1_19 } from 'hono-node-server-1.19'
import { createAdaptorServer as v1_19_11 } from 'hono-node-server-1.19.11'
import { createAdaptorServer as v2_0 } from 'hono-node-server-2.0'
import { createAdaptorServer as v2_1_1 } from 'hono-node-server-2.1.1'
import { freePort } from '../../../../test/kit/servers/free-port.ts'
import { adapterContract } from './adapter-contract.testkit.ts'
import { perdure as elysiaPlugin } from './elysia.ts'
import { express4, mountExpress, mountFastify, mountHono, onNodeServer, startElysiaOnNode } from './mounts.testkit.ts'

const NODE_SERVERS = { '1.13': v1_13, '1.19.11': v1_19_11, '1.19': v1_19, '2.0': v2_0, '2.1.1': v2_1_1, newest }

for (const [version, create] of Object.entries(NODE_SERVERS)) {
  adapterContract(`hono on @hono/node-server ${version}`, {
    framework: 'hono',
    mount: mountHono(onNodeServer(create)),
  })
}

adapterContract('express 4', { framework: 'express', mount: mountExpress(express4) })

adapterContract('fastify 4', { framework: 'fastify', mount: mountFastify(fastify4) })

adapterContract('elysia on @elysiajs/node', {
  framework: 'elysia',
  async mount(options) {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/invoke`
    const app = new Elysia({ adapter: elysiaOnNode() }).use(elysiaPlugin({ ...options, url }))
    const { close } = await startElysiaOnNode(app, port)
    return { url, close }
  },
})
