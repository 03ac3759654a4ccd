// A body that code of the user has read before the handler of the SDK. Where the framework keeps the bytes, they are used;
// elsewhere the answer is a 500 with this reason, never a 4xx, which would end the run for good.

import { node as elysiaOnNode } from '@elysiajs/node'
import { createAdaptorServer as newest } from '@hono/node-server'
import { signBody } from '@perdure/protocol'
import { Elysia } from 'elysia'
import express from 'express'
import { fastify } from 'fastify'
import { fastify as fastify4 } from 'fastify-4'
import { type Context, Hono } from 'hono'
import { createAdaptorServer as v1_13 } from 'hono-node-server-1.13'
import { createAdaptorServer as v1_19 } from 'hono-node-server-1.19'
import { createAdaptorServer as v2_0 } from 'hono-node-server-2.0'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createHandler } from '../runner/handler.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { perdure as elysiaPlugin } from './elysia.ts'
import { createExpressHandler } from './express.ts'
import { perdure as fastifyPlugin } from './fastify.ts'
import { createFetchHandler } from './fetch.ts'
import { startFetchServer } from './fetch-server.testkit.ts'
import { createHonoHandler } from './hono.ts'
import {
  express4,
  type Fastify,
  type ListeningServer,
  listen,
  onNodeServer,
  startElysiaOnNode,
} from './mounts.testkit.ts'

const KEY = 'k'.repeat(32)
const hello = createWorkflow({ name: 'hello' }, ({ step }) => step.run('greet', () => 'hellö'))
const options = { app: 'shop', workflows: [hello], signingKey: KEY }
/** White space and characters of several bytes, which a body that was parsed and printed again does not keep. */
const body = ` ${JSON.stringify({
  event: { name: 'hello', data: 'wörld 🌍' },
  ctx: { runId: 'run_1', workflow: 'hello', attempt: 1, app: 'shop', runner: '' },
})}`
const headers = () => ({
  'content-type': 'application/json',
  'x-engine-signature': signBody({ keys: [KEY], body, nowMs: Date.now() }),
})

/** Posts a signed invoke. */
async function post(server: ListeningServer): Promise<[number, string?]> {
  onTestFinished(() => server.close())
  return outcome(await fetch(`${server.url}/invoke`, { method: 'POST', body, headers: headers() }))
}

/** The status of an answer, with the message of a refusal. */
async function outcome(response: Response): Promise<[number, string?]> {
  const { error } = (await response.json()) as { error?: { message: string } }
  return error ? [response.status, error.message] : [response.status]
}

const ANSWERED = [206]
const EXPLAINED = [500, expect.stringMatching(/^The body of this request was (read|parsed) .* the raw body is needed/)]

const HONO_SERVERS = {
  'without @hono/node-server': startFetchServer,
  '@hono/node-server 1.13': onNodeServer(v1_13),
  '@hono/node-server 1.19': onNodeServer(v1_19),
  '@hono/node-server 2.0': onNodeServer(v2_0),
  '@hono/node-server newest': onNodeServer(newest),
}

const HONO_READS: Record<string, { read: (c: Context) => unknown; kept: boolean }> = {
  'text()': { read: c => c.req.text(), kept: true },
  // Hono keeps the text of it.
  'json()': { read: c => c.req.json(), kept: true },
  'arrayBuffer()': { read: c => c.req.arrayBuffer(), kept: true },
  'blob()': { read: c => c.req.blob(), kept: true },
  'a copy of the request': { read: c => c.req.raw.clone().json(), kept: true },
  'raw.text()': { read: c => c.req.raw.text(), kept: false },
}

describe.each(Object.entries(HONO_SERVERS))('Hono, %s', (_, start) => {
  test.each(Object.entries(HONO_READS))('%s', async (_, { read, kept }) => {
    const app = new Hono()
    app.use(async (c, next) => {
      await read(c)
      await next()
    })
    app.post('/invoke', createHonoHandler(options))
    expect(await post(await start((request, env) => app.fetch(request, env as object)))).toEqual(
      kept ? ANSWERED : EXPLAINED,
    )
  })
})

test('Hono that keeps only the parsed body', async () => {
  const request = new Request('http://127.0.0.1/invoke', { method: 'POST', body, headers: headers() })
  const bodyCache = { json: request.json() }
  const response = await createHonoHandler(options)({ req: { raw: request, bodyCache } })
  expect(await outcome(response)).toEqual(EXPLAINED)
})

const FETCH_READS: Record<string, (request: Request) => unknown> = {
  'json()': request => request.json(),
  'a reader that stopped': async request => {
    const reader = request.body?.getReader()
    await reader?.read()
    reader?.releaseLock()
  },
  'a reader that goes on': request => void request.body?.getReader(),
}

test.each(Object.entries(FETCH_READS))('a handler of requests: %s', async (_, read) => {
  const handle = createFetchHandler(options)
  const server = await startFetchServer(async request => {
    await read(request)
    return handle(request)
  })
  expect(await post(server)).toEqual(EXPLAINED)
})

test('a handler of requests that are made anew without their body', async () => {
  const handle = createFetchHandler(options)
  const server = await startFetchServer(({ url, method, headers }) => handle(new Request(url, { method, headers })))
  expect(await post(server)).toEqual(EXPLAINED)
})

test('a handler of requests whose body is cut off', async () => {
  const cut = new ReadableStream({
    pull: controller => controller.error(new Error('the connection is gone')),
  })
  const init: RequestInit = { method: 'POST', headers: headers(), body: cut, duplex: 'half' }
  const response = await createFetchHandler(options)(new Request('http://127.0.0.1/invoke', init))
  expect(await outcome(response)).toEqual([500, 'The body was cut off: the connection is gone'])
})

test.each<[string, (app: Elysia) => Elysia]>([
  ['a hook', app => app.onRequest(async ({ request }) => void (await request.text()))],
  ['a parser of the whole app', app => app.onParse(({ request }) => request.json())],
])('Elysia, %s that reads the request', async (_, read) => {
  const app = new Elysia({ adapter: elysiaOnNode() }) as unknown as Elysia
  const server = await startElysiaOnNode(read(app).use(elysiaPlugin({ ...options, register: false })))
  expect(await post(server)).toEqual(EXPLAINED)
})

describe.each([
  { version: 5, create: fastify as () => unknown },
  { version: 4, create: fastify4 as () => unknown },
])('Fastify $version', ({ create }) => {
  async function withHook(hook: (request: { rawBody?: unknown }, payload: AsyncIterable<Buffer>) => Promise<void>) {
    const app = create() as Fastify & { addHook(name: 'preParsing', hook: unknown): unknown }
    app.addHook('preParsing', async (request: object, _: unknown, payload: AsyncIterable<Buffer>) => {
      await hook(request, payload)
      return payload
    })
    app.register(fastifyPlugin, { ...options, register: false })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return post({ url, close: async () => void (await app.close()) })
  }

  test('a hook that reads the body', async () => {
    expect(
      await withHook(async (_, payload) => {
        for await (const _ of payload);
      }),
    ).toEqual(EXPLAINED)
  })

  test('a hook that reads the body and keeps it', async () => {
    expect(
      await withHook(async (request, payload) => {
        const chunks: Buffer[] = []
        for await (const chunk of payload) chunks.push(chunk)
        request.rawBody = Buffer.concat(chunks)
      }),
    ).toEqual(ANSWERED)
  })
})

describe.each([
  { version: 5, express },
  { version: 4, express: express4 },
])('Express $version', ({ express }) => {
  const all = { type: () => true }
  const keep = (request: object, _: unknown, bytes: Buffer) => void Object.assign(request, { rawBody: bytes })
  const READS: Record<string, { read: express.RequestHandler; expected: unknown }> = {
    'json()': { read: express.json(), expected: EXPLAINED },
    'json() that keeps the bytes': { read: express.json({ verify: keep }), expected: ANSWERED },
    'urlencoded(), which leaves this body alone': { read: express.urlencoded({ extended: false }), expected: ANSWERED },
    'raw()': { read: express.raw(all), expected: ANSWERED },
    'text()': { read: express.text(all), expected: ANSWERED },
    'a listener that does not wait for the end': {
      read: (request, _, next) => void request.once('data', () => setImmediate(next)),
      expected: EXPLAINED,
    },
  }
  test.each(Object.entries(READS))('%s', async (_, { read, expected }) => {
    const app = express().use(read).post('/invoke', createExpressHandler(options))
    expect(await post(await listen(app))).toEqual(expected)
  })
})

test('a handler without a transport, which gets the parsed body', async () => {
  const handler = createHandler(options)
  const { status, body: text } = await handler.handle({ headers: headers(), rawBody: JSON.parse(body) })
  expect([status, JSON.parse(text).error.message]).toEqual([
    500,
    'The raw body of the request must be text or bytes, not object',
  ])
})
