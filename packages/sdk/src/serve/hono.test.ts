// Serves inside a Hono app, without a port.

import { signBody } from '@perdure/protocol'
import { Hono } from 'hono'
import { afterEach, describe, expect, test } from 'vitest'
import { type EngineServer, startEngine } from '../engine/engine-server.testkit.ts'
import { signal } from '../replay/engine.testkit.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { createHonoHandler, serve } from './hono.ts'

const workflows = [createWorkflow({ name: 'hello' }, ({ step }) => step.run('greet', () => 'hellö'))]
const body = JSON.stringify({
  event: { name: 'hello' },
  steps: {},
  ctx: { runId: 'run_1', workflow: 'hello', attempt: 1, app: 'shop', runner: '' },
})

let engine: EngineServer | undefined

afterEach(async () => {
  await engine?.close()
  engine = undefined
})

function appWith(options: { signingKey: string | string[] }): Hono {
  return new Hono().all('/invoke', createHonoHandler({ app: 'shop', workflows, ...options }))
}

describe('the handler', () => {
  test('answers an invoke', async () => {
    const response = await appWith({ signingKey: [] }).request('/invoke', { method: 'POST', body })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({
      opcodes: [{ op: 'StepRun', name: 'greet', data: 'hellö' }],
      logs: [],
    })
  })

  test('checks the signature over the raw bytes', async () => {
    const app = appWith({ signingKey: 'secret' })
    const headers = { 'X-Engine-Signature': signBody({ keys: ['secret'], body, nowMs: Date.now() }) }
    expect((await app.request('/invoke', { method: 'POST', body, headers })).status).toBe(206)
    expect((await app.request('/invoke', { method: 'POST', body })).status).toBe(401)
  })

  test('refuses other methods, an empty body and one that is too large', async () => {
    const app = appWith({ signingKey: [] })
    expect((await app.request('/invoke')).status).toBe(405)
    expect((await app.request('/invoke', { method: 'POST' })).status).toBe(400)
    const chunk = new Uint8Array(8 * 1024 * 1024)
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent++
        if (sent > 20) controller.close()
        else controller.enqueue(chunk)
      },
    })
    const response = await app.request('/invoke', {
      method: 'POST',
      body: endless,
      duplex: 'half',
    } as RequestInit)
    expect(response.status).toBe(413)
    expect(sent).toBeLessThan(12)
  })

  test("passes the request's abort on", async () => {
    const [started, aborted] = [signal(), signal<unknown>()]
    const slow = createWorkflow({ name: 'hello' }, ({ step }) =>
      step.run('slow', async context => {
        context.signal.addEventListener('abort', () => aborted.resolve(context.signal.reason))
        started.resolve()
        await aborted.promise
      }),
    )
    const app = new Hono().post(
      '/invoke',
      createHonoHandler({ app: 'shop', workflows: [slow], signingKey: [] }),
    )
    const controller = new AbortController()
    const response = app.request('/invoke', { method: 'POST', body, signal: controller.signal })
    await started.promise
    controller.abort('gone')
    expect(await aborted.promise).toBe('gone')
    expect((await response).status).toBe(499)
  })
})

test('serve installs the route and registers it', async () => {
  engine = await startEngine({ status: 200, body: { runnerId: 'r', workflows: 1, heartbeatMs: 60_000 } })
  const app = new Hono()
  const { ready, stop } = serve(app, {
    app: 'shop',
    workflows,
    signingKey: [],
    path: '/perdure',
    url: 'https://shop.example/perdure',
    engineUrl: engine.url,
    log: () => undefined,
  })
  await ready
  stop()
  expect(engine.calls[0]?.body).toMatchObject({ url: 'https://shop.example/perdure', framework: 'hono' })
  expect((await app.request('/perdure', { method: 'POST', body })).status).toBe(206)
})
