// `createFetchHandler()` without a server: bodies without a length, and the abort signal of the request. The adapter suite
// tests the rest.

import { expect, test } from 'vitest'
import { signal } from '../replay/engine.testkit.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { Workflow } from '../workflow/workflow.ts'
import { createFetchHandler } from './fetch.ts'
import { createHonoHandler } from './hono.ts'

const json = { 'content-type': 'application/json' }

function post(workflow: Workflow, init: Omit<RequestInit, 'method'>): Promise<Response> {
  const handle = createFetchHandler({ app: 'shop', workflows: [workflow], signingKey: [] })
  return handle(new Request('http://127.0.0.1/invoke', { method: 'POST', headers: json, ...init }))
}

test('a body without a length is not read beyond the limit', async () => {
  const chunk = new Uint8Array(8 * 1024 * 1024)
  let sent = 0
  const endless = new ReadableStream({
    pull(controller) {
      sent++
      if (sent > 20) controller.close()
      else controller.enqueue(chunk)
    },
  })
  const hello = createWorkflow({ name: 'hello' }, () => 'hello')
  const response = await post(hello, { body: endless, duplex: 'half' } as RequestInit)
  expect(response.status).toBe(413)
  expect(sent).toBeLessThan(12)
})

test('without a key answers only this machine, on every runtime that passes the address of the caller', async () => {
  const hello = createWorkflow({ name: 'hello' }, () => 'hello')
  const handle = createFetchHandler({ app: 'shop', workflows: [hello], signingKey: [] })
  const body = JSON.stringify({ event: { name: 'hello' }, ctx: { runId: 'run_1', workflow: 'hello' } })
  const statusOf = async (connection: unknown, url = 'http://127.0.0.1/invoke') =>
    (await handle(new Request(url, { method: 'POST', headers: json, body }), connection)).status
  for (const [address, status] of [
    ['127.0.0.1', 200],
    ['10.1.2.3', 403],
  ] as const) {
    expect(await statusOf({ remoteAddr: { transport: 'tcp', hostname: address, port: 1 } })).toBe(status)
    expect(await statusOf({ requestIP: () => ({ address, family: 'IPv4', port: 1 }) })).toBe(status)
    expect(await statusOf({ incoming: { socket: { remoteAddress: address } } })).toBe(status)
  }
  for (const connection of [undefined, null, {}, { requestIP: () => null }])
    expect(await statusOf(connection)).toBe(200)
  expect(await statusOf(undefined, 'http://evil.example/invoke')).toBe(403)
})

test('a silent connection of Bun stays open, whatever framework is between', async () => {
  const hello = createWorkflow({ name: 'hello' }, () => 'hello')
  const raw = new Request('http://127.0.0.1/invoke', { method: 'POST', headers: json, body: '{}' })
  const limits: unknown[] = []
  const server = { timeout: (request: Request, seconds: number) => limits.push([request, seconds]) }
  await createHonoHandler({ app: 'shop', workflows: [hello], signingKey: [] })({ req: { raw }, env: server })
  expect(limits).toEqual([[raw, 0]])
})

test("the abort of the request aborts the callback's signal with the same reason", async () => {
  const [started, aborted] = [signal(), signal<unknown>()]
  const slow = createWorkflow({ name: 'hello' }, ({ step }) =>
    step.run('slow', async context => {
      context.signal.addEventListener('abort', () => aborted.resolve(context.signal.reason))
      started.resolve()
      await aborted.promise
    }),
  )
  const controller = new AbortController()
  const body = JSON.stringify({ event: { name: 'hello' }, ctx: { runId: 'run_1', workflow: 'hello' } })
  const response = post(slow, { body, signal: controller.signal })
  await started.promise
  controller.abort('gone')
  expect(await aborted.promise).toBe('gone')
  expect((await response).status).toBe(499)
})
