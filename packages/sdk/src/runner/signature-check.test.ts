// Signatures for one runner: those of engines that negotiated them, and of earlier engines.

import { type RegisterReply, recipientOf, signBody, signFor } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { createHandler, type Handler } from './handler.ts'

const KEY = 'k'.repeat(32)
const FEATURES = ['signature-v2', 'later']
const reply: RegisterReply = {
  ok: true,
  protocolVersion: 1,
  runnerId: 'r',
  workflows: 1,
  heartbeatMs: 1,
  staleAfterMs: 1,
  warnings: [],
}
const bodyOf = (features?: string[]) =>
  JSON.stringify({
    event: { name: 'hello' },
    ctx: { runId: 'run_1', workflow: 'hello', ...(features && { features }) },
  })

function handlerOf(): Handler {
  return createHandler({ app: 'shop', workflows: [createWorkflow({ name: 'hello' }, () => 'hi')], signingKey: KEY })
}

const v1 = (body: string) => signBody({ keys: [KEY], body, nowMs: Date.now() })
const v2 = (body: string, runnerId = 'shop-1', app = 'shop') =>
  signFor({ keys: [KEY], purpose: 'invoke', recipient: recipientOf(app, runnerId), body, nowMs: Date.now() })

async function answer(handler: Handler, body: string, signature: string) {
  const response = await handler.handle({ headers: { 'x-engine-signature': signature }, rawBody: body })
  return { status: response.status, message: JSON.parse(response.body).error?.message as string | undefined }
}

describe('a runner that registered under its id', () => {
  const handler = handlerOf()
  handler.servedAt('https://shop.example/invoke', 'shop-1')
  handler.acknowledged({ ...reply, features: FEATURES })
  const body = bodyOf(FEATURES)

  test('answers what is signed for it', async () => {
    expect(await answer(handler, body, v2(body))).toEqual({ status: 200, message: undefined })
  })

  test('sends back what is signed for another runner or app', async () => {
    for (const signature of [v2(body, 'shop-2'), v2(body, 'shop-1', 'billing')])
      expect(await answer(handler, body, signature)).toMatchObject({
        status: 503,
        message: expect.stringContaining('a different runner'),
      })
  })

  test('does not take a signature that was made for another purpose, or whose recipient was changed', async () => {
    const recipient = recipientOf('shop', 'shop-1')
    const proof = signFor({ keys: [KEY], purpose: 'connect', recipient, body, nowMs: Date.now() })
    const readdressed = v2(body, 'shop-2').replace(recipientOf('shop', 'shop-2'), recipient)
    for (const signature of [proof, readdressed]) expect((await answer(handler, body, signature)).status).toBe(401)
  })

  test('takes no v1 of an engine that can do more, also beside a v2 that is wrong', async () => {
    expect(await answer(handler, body, v1(body))).toMatchObject({
      status: 503,
      message: expect.stringContaining('has no v2'),
    })
    const wrong = v2(body).replace(/v2=.*/, `v2=${'0'.repeat(64)}`)
    expect((await answer(handler, body, `${wrong},${v1(body)}`)).status).toBe(401)
  })

  test('takes v1 of an engine of an earlier version, which names no features', async () => {
    expect((await answer(handler, bodyOf(), v1(bodyOf()))).status).toBe(200)
    expect((await answer(handler, bodyOf(['later']), v1(bodyOf(['later'])))).status).toBe(200)
  })
})

test('a runner whose newest registration an earlier engine took is sent v1 by all', async () => {
  const handler = handlerOf()
  handler.servedAt('https://shop.example/invoke')
  handler.acknowledged({ ...reply, features: FEATURES })
  handler.acknowledged(reply)
  expect((await answer(handler, bodyOf(FEATURES), v1(bodyOf(FEATURES)))).status).toBe(200)
})

test('a runner without an id is its url', async () => {
  const handler = handlerOf()
  handler.servedAt('https://shop.example/invoke')
  const body = bodyOf(FEATURES)
  expect((await answer(handler, body, v2(body, 'https://shop.example/invoke'))).status).toBe(200)
  expect((await answer(handler, body, v2(body, 'https://shop.example/other'))).status).toBe(503)
})

test('a process that did not register its runner takes what is signed for any', async () => {
  const body = bodyOf(FEATURES)
  expect((await answer(handlerOf(), body, v2(body, 'anyone'))).status).toBe(200)
  expect((await answer(handlerOf(), body, v1(body))).status).toBe(200)
})
