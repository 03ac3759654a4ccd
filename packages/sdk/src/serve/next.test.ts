// The URL with which a Next.js app registers, and when. `test/scenario/sdk/next.test.ts` tests it in a real Next.js server.

import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { type EngineServer, startEngine } from '../engine/engine-server.testkit.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { stopNextHeartbeats } from './next.testkit.ts'
import { type NextServeOptions, serve } from './next.ts'

const workflows = [createWorkflow({ name: 'hello' }, ({ step }) => step.run('greet', () => 'hello'))]
const json = { 'content-type': 'application/json' }
const invoke = JSON.stringify({ event: { name: 'hello' }, ctx: { runId: 'run_1', workflow: 'hello' } })

afterEach(() => {
  vi.unstubAllEnvs()
  stopNextHeartbeats()
})

async function engineOf(): Promise<EngineServer> {
  const engine = await startEngine({ status: 200, body: { runnerId: 'r', workflows: 1, heartbeatMs: 10 } })
  onTestFinished(() => engine.close())
  return engine
}

const route = (engine: EngineServer, options: Partial<NextServeOptions> = {}) =>
  serve({
    app: 'shop',
    workflows,
    signingKey: [],
    allowUnsigned: true,
    engineUrl: engine.url,
    log: () => undefined,
    ...options,
  })

test('the first invoke registers the app without waiting for that', async () => {
  const engine = await engineOf()
  const { POST } = route(engine)
  const response = await POST(new Request('http://localhost:1/invoke', { method: 'POST', headers: json, body: invoke }))
  expect(response.status).toBe(206)
  await engine.called(1)
  expect(engine.calls[0]?.body).toMatchObject({ url: 'http://localhost:1/invoke', framework: 'next' })
})

test("a deployment on Vercel registers with the platform's domain and not the host of the request", async () => {
  const engine = await engineOf()
  vi.stubEnv('VERCEL_ENV', 'production')
  vi.stubEnv('VERCEL_URL', 'shop-123.vercel.app')
  vi.stubEnv('VERCEL_PROJECT_PRODUCTION_URL', 'shop.example')
  const { GET } = route(engine)
  const response = await GET(new Request('https://evil.example/api/perdure'))
  expect([response.status, await response.json()]).toEqual([
    200,
    { app: 'shop', workflows: 1, registered: true, runnerId: 'r' },
  ])
  expect(engine.calls[0]?.body).toMatchObject({ url: 'https://shop.example/api/perdure' })
  vi.stubEnv('VERCEL_ENV', 'preview')
  await route(engine).PUT(new Request('https://evil.example/api/perdure', { method: 'PUT' }))
  expect(engine.calls.map(call => (call.body as { url: string }).url)).toContain(
    'https://shop-123.vercel.app/api/perdure',
  )
})

test('elsewhere it ignores the host of the request and requires a url', async () => {
  const engine = await engineOf()
  const lines: string[] = []
  const { GET, POST } = route(engine, { log: (_, line) => lines.push(line) })
  const response = await GET(new Request('https://evil.example/api/perdure'))
  expect([response.status, await response.json()]).toMatchObject([
    503,
    { registered: false, error: expect.stringContaining('give `serve` a `url`') },
  ])
  vi.stubEnv('NODE_ENV', 'production')
  await POST(new Request('http://localhost:3000/api/perdure', { method: 'POST', headers: json, body: invoke }))
  expect(lines).toHaveLength(1)
  expect(engine.calls).toHaveLength(0)
})

test('without a key it neither registers nor answers beyond this machine', async () => {
  const engine = await engineOf()
  const lines: string[] = []
  const options = {
    url: 'https://shop.example/unsigned',
    allowUnsigned: false,
    log: (_: string, line: string) => lines.push(line),
  }
  const { GET, POST } = route(engine, options)
  const response = await GET(new Request('https://shop.example/unsigned'))
  expect([response.status, await response.json()]).toMatchObject([
    503,
    { registered: false, error: expect.stringContaining('Set ENGINE_SIGNING_KEY') },
  ])
  const posted = await POST(new Request('http://localhost/unsigned', { method: 'POST', headers: json, body: invoke }))
  expect([posted.status, lines.length, engine.calls.length]).toEqual([403, 1, 0])
})

test('a reloaded module replaces the registration of the old one', async () => {
  const engine = await engineOf()
  const url = 'https://shop.example/reloaded'
  const request = () => new Request(url)
  await route(engine, { url }).GET(request())
  const renamed = [createWorkflow({ name: 'renamed' }, () => 'x')]
  await route(engine, { url, workflows: renamed }).GET(request())
  const before = engine.calls.length
  await engine.called(before + 3)
  const names = engine.calls.slice(before).map(call => {
    const { workflows } = call.body as { workflows: { name: string }[] }
    return workflows.map(({ name }) => name)
  })
  expect(new Set(names.flat())).toEqual(new Set(['renamed']))
})

test('a refused registration is reported', async () => {
  const engine = await startEngine({
    status: 401,
    body: { error: { code: 'unauthorized', message: 'A key is needed', requestId: 'q' } },
  })
  onTestFinished(() => engine.close())
  const { GET } = route(engine, { url: 'https://shop.example/refused' })
  const response = await GET(new Request('https://shop.example/refused'))
  expect([response.status, await response.json()]).toMatchObject([
    503,
    { error: expect.stringContaining('A key is needed. Set ENGINE_API_KEY') },
  ])
})
