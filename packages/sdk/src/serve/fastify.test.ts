// The Fastify plugin changes nothing outside of itself.

import { fastify } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { startEngine } from '../engine/engine-server.testkit.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { perdure } from './fastify.ts'

const workflows = [createWorkflow({ name: 'hello' }, ({ step }) => step.run('greet', () => 'hello'))]
const body = JSON.stringify({ event: { name: 'hello' }, ctx: { runId: 'run_1', workflow: 'hello' } })
const headers = { 'content-type': 'application/json' }

test('other routes keep their parsers', async () => {
  const app = fastify()
  app.post('/other', request => ({ got: request.body }))
  app.register(perdure, { app: 'shop', workflows, signingKey: [], register: false })
  onTestFinished(() => app.close())
  const other = await app.inject({ method: 'POST', url: '/other', headers, body: '{"a":1}' })
  expect(other.json()).toEqual({ got: { a: 1 } })
  const unknown = await app.inject({
    method: 'POST',
    url: '/other',
    headers: { 'content-type': 'text/csv' },
    body,
  })
  expect(unknown.statusCode).toBe(415)
  const invoked = await app.inject({ method: 'POST', url: '/invoke', headers, body })
  expect([invoked.statusCode, invoked.json().opcodes[0].data]).toEqual([206, 'hello'])
})

test('without a key an app that listens beyond this machine answers no invoke and does not register', async () => {
  const engine = await startEngine({ status: 200, body: { runnerId: 'r', workflows: 1, heartbeatMs: 10 } })
  onTestFinished(() => engine.close())
  const app = fastify()
  app.register(perdure, { app: 'shop', workflows, signingKey: [], engineUrl: engine.url, log: () => undefined })
  onTestFinished(() => app.close())
  await app.listen({ port: 0, host: '0.0.0.0' })
  const invoked = await app.inject({ method: 'POST', url: '/invoke', headers, body })
  expect([invoked.statusCode, invoked.json().error.message]).toEqual([403, expect.stringContaining('0.0.0.0')])
  expect(engine.calls).toEqual([])
})

test('an app that never listens registers with its url until it is closed', async () => {
  const engine = await startEngine({ status: 200, body: { runnerId: 'r', workflows: 1, heartbeatMs: 10 } })
  onTestFinished(() => engine.close())
  const app = fastify()
  const url = 'https://shop.example/invoke'
  app.register(perdure, {
    app: 'shop',
    workflows,
    url,
    allowUnsigned: true,
    engineUrl: engine.url,
    log: () => undefined,
  })
  await app.ready()
  await engine.called(2)
  await app.close()
  expect(engine.calls[0]?.body).toMatchObject({ url, framework: 'fastify' })
})

test('a wrong option fails the start of the app', async () => {
  const app = fastify()
  app.register(perdure, { app: '', workflows, register: false })
  await expect(app.ready()).rejects.toThrow('A runner needs the name of its app')
})
