// Requests that start work while others are being taken in, on a store whose commits wait (docs/limits.md#senders-and-runs).

import http from 'node:http'
import { expect, test } from 'vitest'
import { Api } from '../../../../../test/kit/http/api.ts'
import {
  apiKey,
  blockCommits,
  eventually,
  listen,
  messageOf,
  postJson,
  recordedData,
  refusal,
  testApp,
} from '../../../../../test/kit/http/test-app.ts'
import { PlainRunner } from '../../../../../test/kit/runner/plain-runner.ts'
import { flow, run } from '../../../../../test/kit/runner/steps.ts'
import { gate } from '../../../../../test/kit/until.ts'
import { signedHeaders } from '../../../../../test/kit/webhook/provider.ts'

const AT_ONCE = 2
const WAITING = 4
const WAIT_MS = 5000

async function busyApp() {
  const apiKeys = [apiKey('flood'), apiKey('colleague'), apiKey('quiet', { namespace: 'quiet' })]
  const limits = {
    acceptsMax: AT_ONCE,
    acceptsWaitingMax: { all: 2 * WAITING, perNamespace: WAITING + 1, perKey: WAITING },
    acceptMs: WAIT_MS,
  }
  const opened = await testApp({ config: { apiKeys }, limits })
  const { app, store } = opened
  const post = (url: string, body: object, key = 'flood') =>
    postJson(app, url, JSON.stringify(body), { authorization: `Bearer ${key}` })
  const send = (data: string, key = 'flood') => post('/events', { name: 'order', data }, key)
  await post('/register', { app: 'shop', url: 'http://127.0.0.1:9/', workflows: [{ name: 'bill' }] })
  await post('/workflows/shop/bill/pause', {})
  const receiver = (await post('/webhook-receivers', { eventName: 'hook', scheme: 'github' })).json()
  const webhook = () => {
    const signed = { scheme: 'github', secret: receiver.secret, body: '{}', at: 0 } as const
    return postJson(app, `/webhooks/${receiver.slug}`, '{}', signedHeaders(signed))
  }
  const blocked = blockCommits(store)
  /** Lets the oldest waiting commit be made, once there is one. */
  const commitNext = async () => {
    await eventually(() => blocked.length > 0)
    blocked.shift()?.()
  }
  const commitAll = async (answers: Promise<{ statusCode: number }>[]) => {
    let isDone = false
    const all = Promise.all(answers).finally(() => {
      isDone = true
    })
    await eventually(() => {
      for (const release of blocked.splice(0)) release()
      return isDone
    })
    return (await all).map(({ statusCode }) => statusCode)
  }
  return { ...opened, blocked, post, send, webhook, commitNext, commitAll }
}

/** Waits until everything that was sent has got as far as it can. */
const settled = async () => {
  for (let i = 0; i < 20; i++) await new Promise(setImmediate)
}

test('so many events are taken in at once, and each commit lets the next one in, in their order', async () => {
  const { store, blocked, send, commitNext, commitAll } = await busyApp()
  const answers = ['1', '2', '3', '4', '5'].map(data => send(data))
  await settled()
  expect(blocked).toHaveLength(AT_ONCE)
  await commitNext()
  await answers[0]
  await settled()
  expect(blocked).toHaveLength(AT_ONCE)
  expect(await commitAll(answers)).toEqual([202, 202, 202, 202, 202])
  expect(await recordedData(store)).toEqual(['"1"', '"2"', '"3"', '"4"', '"5"'])
})

test('the post of another namespace or key is next, however many of one key wait before it', async () => {
  const { send, commitNext, commitAll, blocked } = await busyApp()
  const flood = ['1', '2', '3', '4'].map(data => send(data))
  await settled()
  const [quiet, colleague] = [send('q', 'quiet'), send('c', 'colleague')]
  await settled()
  let isQuietAnswered = false
  void quiet.then(() => {
    isQuietAnswered = true
  })
  for (let i = 0; i < 2; i++) await commitNext()
  await Promise.all(flood.slice(0, 2))
  await settled()
  // The flooder's third request, and the quiet caller's.
  expect(blocked).toHaveLength(2)
  for (let i = 0; i < 2; i++) await commitNext()
  await eventually(() => isQuietAnswered)
  expect(await commitAll([...flood, quiet, colleague])).toEqual([202, 202, 202, 202, 202, 202])
})

test('batches, starts and inbound webhooks wait with events', async () => {
  const { blocked, post, send, webhook, commitAll } = await busyApp()
  const first = [send('1'), send('2')]
  await settled()
  const waiting = [post('/events/batch', [{ name: 'order' }]), post('/workflows/shop/bill/runs', {}), webhook()]
  await settled()
  expect(blocked).toHaveLength(AT_ONCE)
  expect(await commitAll([...first, ...waiting])).toEqual([202, 202, 200, 201, 202])
})

test('a batch counts as many as it has events', async () => {
  const { blocked, post, send, commitNext, commitAll } = await busyApp()
  const batch = post('/events/batch', [{ name: 'order' }, { name: 'order' }, { name: 'order' }])
  await settled()
  const next = send('1')
  await settled()
  expect(blocked).toHaveLength(1)
  await commitNext()
  await batch
  expect(await commitAll([next])).toEqual([202])
})

test('beyond the bound a post is 503 with Retry-After and stores nothing, and all others are stored', async () => {
  const { store, send, commitAll } = await busyApp()
  const answers = Array.from({ length: AT_ONCE + WAITING }, (_, i) => send(String(i)))
  await settled()
  const others = [send('colleague', 'colleague'), send('quiet', 'quiet')]
  await settled()
  const refused = await send('refused')
  expect(refusal(refused)).toBe('503 overloaded')
  expect(refused.headers['retry-after']).toBe('1')
  expect(messageOf(refused)).toBe('too many events and starts are waiting to be processed: try again later')
  expect(await commitAll([...answers, ...others])).toEqual([...answers, ...others].map(() => 202))
  const stored = (await recordedData(store)).filter(data => data !== '"colleague"')
  expect(stored).toEqual(answers.map((_, i) => `"${i}"`))
})

test('a post that waits too long is 503 and stores nothing, and one whose client has left is not stored', async () => {
  const { app, clock, store, send, commitAll } = await busyApp()
  const taken = [send('1'), send('2')]
  const port = await listen(app)
  await settled()
  const headers = { authorization: 'Bearer flood', 'content-type': 'application/json' }
  const left = http.request({ port, method: 'POST', path: '/events', headers })
  left.on('error', () => {})
  const arrived = new Promise(resolve => app.server.once('request', resolve))
  left.end(JSON.stringify({ name: 'order', data: 'left' }))
  await arrived
  await clock.advance(1)
  const late = send('late')
  await settled()
  left.destroy()
  await clock.advance(WAIT_MS)
  expect(refusal(await late)).toBe('503 overloaded')
  expect(messageOf(await late)).toBe(
    'the engine was too busy with other events and starts to process this request: try again later',
  )
  expect(await commitAll([...taken])).toEqual([202, 202])
  const last = send('3')
  expect(await commitAll([last])).toEqual([202])
  expect(await recordedData(store)).toEqual(['"1"', '"2"', '"3"'])
})

test('the commit of a pass does not wait behind events, nor behind those that wait', async () => {
  const { app, blocked, post, send, commitAll } = await busyApp()
  const port = await listen(app)
  const flooder = new Api(() => `http://127.0.0.1:${port}`).as('flood')
  const step = gate()
  const begun = gate()
  const handler = flow([
    run('one', async () => {
      begun.open()
      await step.opened
    }),
  ])
  const runner = await new PlainRunner({ app: 'steps', workflows: { steps: handler } }).listen()
  expect(await commitAll([runner.register(flooder).then(({ status }) => ({ statusCode: status }))])).toEqual([200])
  const started = post('/events', { name: 'steps' })
  expect(await commitAll([started])).toEqual([202])
  await begun.opened
  const flood = Array.from({ length: AT_ONCE + WAITING }, (_, i) => send(String(i)))
  await settled()
  expect(blocked).toHaveLength(AT_ONCE)
  step.open()
  await eventually(() => blocked.length === AT_ONCE + 1)
  expect(await commitAll(flood)).toEqual(flood.map(() => 202))
  const { runId } = (await started).json()
  await commitAll([flooder.succeeded(runId).then(() => ({ statusCode: 200 }))])
})
