// The order of Express's body parsers, which users of Express choose themselves.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signBody } from '@perdure/protocol'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { createExpressHandler } from './express.ts'
import { end } from './fetch-server.testkit.ts'

const KEY = 'k'.repeat(32)
const hello = createWorkflow({ name: 'hello' }, ({ step }) => step.run('greet', () => 'hellö'))
const body = ` ${JSON.stringify({
  event: { name: 'hello', data: 'wörld' },
  ctx: { runId: 'run_1', workflow: 'hello', attempt: 1, app: 'shop', runner: '' },
})}`

/** Posts a signed invoke to an app whose handler comes after `parse`. */
async function post(parse: express.RequestHandler): Promise<{ status: number; text: string }> {
  const app = express()
    .use(parse)
    .post('/invoke', createExpressHandler({ app: 'shop', workflows: [hello], signingKey: KEY }))
  const server = createServer(app).listen(0, '127.0.0.1')
  onTestFinished(() => end(server))
  await once(server, 'listening')
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/invoke`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'X-Engine-Signature': signBody({ keys: [KEY], body, nowMs: Date.now() }),
    },
  })
  return { status: response.status, text: await response.text() }
}

test('a parsed body is refused, and the answer says what to do', async () => {
  const { status, text } = await post(express.json())
  expect(status).toBe(500)
  expect(JSON.parse(text).error.message).toMatch(/the raw body is needed.*before the body parser/)
})

test('a parser that keeps the bytes may come before', async () => {
  const parse = express.json({
    verify: (request, _, bytes) => void Object.assign(request, { rawBody: bytes }),
  })
  expect((await post(parse)).status).toBe(206)
  expect((await post(express.raw({ type: () => true }))).status).toBe(206)
})

test('a parser of other content types leaves the body alone', async () => {
  expect((await post(express.urlencoded())).status).toBe(206)
})
