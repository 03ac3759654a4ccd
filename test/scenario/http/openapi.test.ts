// The OpenAPI document is valid and complete, and a real engine answers every example as the document shows.

import type { WebhookDelivery } from '@perdure/protocol'
import { type Example, type ListedOperation, operationList, type Reply } from '@perdure/protocol/operations'
import { Validator } from '@seriousme/openapi-schema-validator'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectToFit } from '../../kit/http/fits.ts'
import {
  flow,
  type Invoke,
  openDestination,
  PlainRunner,
  readSse,
  run,
  scenario,
  step,
  until,
  wait,
} from '../../kit/index.ts'
import { callbackUrl } from '../../kit/runner/wire.ts'
import { asHere, type Ids, KEY, pathOf } from './openapi.examples.ts'

const keys = JSON.stringify([{ label: 'ops', namespace: 'default', kind: 'secret', key: KEY }])
const { engine } = await scenario({
  realTime: true,
  env: { ENGINE_API_KEYS: keys, ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' },
})
const api = engine.api.as(KEY)
const all = operationList

// The shop of the examples. An order with `hold` waits for its parcel; an order with `notify` notifies the warehouse.
const charge = run('charge-card', () => ({ chargeId: 'ch_82' }))
const hold = wait('parcel-left', 'parcel/left')
const notify = (webhookUrl: string) => step('Webhook', 'notify-warehouse', { webhookUrl, data: { orderId: '4711' } })
const shop = new PlainRunner({
  app: 'shop',
  runner: 'shop-1',
  workflows: {
    'fulfil-order': {
      handler: (invoke, record) => {
        const order = invoke.event.data as { hold?: boolean; notify?: string }
        const more = [...(order.hold ? [hold] : []), ...(order.notify ? [notify(order.notify)] : [])]
        return flow([charge, ...more])(invoke, record)
      },
      registration: { triggers: [{ event: 'order/placed' }], retry: { maxAttempts: 3 }, concurrency: { limit: 50 } },
    },
  },
})
beforeAll(() => shop.listen())

async function order(data: Record<string, unknown> = {}): Promise<{ run: string; evt: string }> {
  // The example of `register` replaces the address.
  await shop.register(api, { features: ['callbacks'] })
  const { runId, eventId } = await api.send({ name: 'order/placed', data: { orderId: '4711', ...data } })
  return { run: runId, evt: eventId }
}

async function finished(data?: Record<string, unknown>): Promise<Ids> {
  const placed = await order(data)
  await api.succeeded(placed.run)
  return placed
}

async function waiting(): Promise<Ids & { run: string }> {
  const placed = await order({ hold: true })
  await api.reaches(placed.run, 'waiting')
  return placed
}

/** A run with a budget. */
async function budgeted(): Promise<Ids> {
  const handler = flow([hold])
  const runner = await new PlainRunner({
    app: 'shop',
    runner: 'shop-3',
    workflows: { budgeted: { handler, registration: { budget: { usd: 5 } } } },
  }).listen()
  await runner.register(api)
  const { runId: run } = await api.send({ name: 'budgeted' })
  await api.reaches(run, 'waiting')
  return { run }
}

/** A run that answers an update. */
async function answering(): Promise<Ids & { run: string }> {
  const item = step('WaitForSignal', 'item', { signal: 'add-item' })
  const answer = step('ReplyToUpdate', 'answer', (_, { item }) => ({
    updateId: (item as { id: string }).id,
    data: { items: 3 },
  }))
  const runner = await new PlainRunner({
    app: 'shop',
    runner: 'shop-4',
    workflows: { basket: flow([item, answer]) },
  }).listen()
  await runner.register(api, { features: ['signals'] })
  const { runId: run } = await api.send({ name: 'basket' })
  await api.reaches(run, 'waiting')
  return { run }
}

async function answered(): Promise<Ids> {
  const { run } = await answering()
  const { json } = await api.post(`/runs/${run}/updates/add-item`)
  return { run, evt: (json as { updateId: string }).updateId }
}

async function signalled(): Promise<Ids> {
  const { run } = await waiting()
  await api.post(`/runs/${run}/signals/address`)
  return { run }
}

async function paused(): Promise<Ids> {
  const placed = await waiting()
  await api.post(`/runs/${placed.run}/pause`)
  return placed
}

/** An order that does not wait for the callback yet. */
async function callback(): Promise<Ids> {
  const { run: runId } = await waiting()
  const url = callbackUrl((shop.record.of(runId)[0] as Invoke).ctx, 'approval')
  return { callback: url.slice(url.lastIndexOf('/') + 1) }
}

/** An order whose webhook has reached the warehouse. */
async function delivered(): Promise<Ids> {
  const warehouse = await openDestination()
  await finished({ notify: warehouse.url })
  const dlv = await until(async () => {
    const { json } = await api.get('/webhook-deliveries?status=succeeded')
    return (json as WebhookDelivery[]).find(({ url }) => url === warehouse.url)?.id
  })
  return { dlv }
}

async function endpoint(): Promise<Ids> {
  const body = { url: 'https://alerts.example.com/hooks', eventKinds: ['run.failed'] }
  return { whe: ((await api.post('/webhook-endpoints', body)).json as { id: string }).id }
}

/** An endpoint that answers. */
async function reachable(): Promise<Ids> {
  const body = { url: (await openDestination()).url, eventKinds: ['run.failed'] }
  return { whe: ((await api.post('/webhook-endpoints', body)).json as { id: string }).id }
}

async function receiver(): Promise<Ids> {
  const { json } = await api.post('/webhook-receivers', { eventName: 'parcel/left' })
  const { id, slug, secret } = json as { id: string; slug: string; secret: string }
  return { whr: id, slug, secret }
}

async function apiKey(): Promise<Ids> {
  return { key: ((await api.post('/keys', { kind: 'read' })).json as { id: string }).id }
}

async function reminder(): Promise<Ids> {
  const { json } = await api.post('/events', { name: 'order/reminder', delay: '2h' })
  return { evt: (json as { eventId: string }).eventId }
}

async function schedule(): Promise<Ids> {
  await api.put('/schedules/weekly-report', { every: '1h', event: { name: 'report/weekly' } })
  return {}
}

async function pausedSchedule(): Promise<Ids> {
  await schedule()
  await api.post('/schedules/weekly-report/pause')
  return {}
}

/** Not an order: it would wait for the resume. */
async function pausedWorkflow(): Promise<Ids> {
  await shop.register(api)
  await api.post('/workflows/shop/fulfil-order/pause')
  return {}
}

async function view(): Promise<Ids> {
  await api.put('/views/failed-today', { name: 'Failed today', query: '' })
  return {}
}

/** An error group. */
async function failed(): Promise<Ids> {
  const workflows = { refused: () => ({ status: 400, body: { error: { message: 'no' }, logs: [] } }) }
  const runner = await new PlainRunner({ app: 'shop', runner: 'shop-5', workflows }).listen()
  await runner.register(api)
  await api.reaches((await api.send({ name: 'refused' })).runId, 'failed')
  const [group] = (await api.get('/errors?workflow=refused')).json as { fingerprint: string }[]
  return { fingerprint: group?.fingerprint as string }
}

/** A workflow whose only runner has left. */
async function abandoned(): Promise<Ids> {
  const workflows = { 'count-stock': flow([]) }
  const runner = await new PlainRunner({ app: 'warehouse', runner: 'warehouse-1', workflows }).listen()
  await runner.register(api)
  await api.post('/register', {
    app: 'warehouse',
    runner: 'warehouse-1',
    url: runner.url,
    workflows: [],
    leaving: true,
  })
  return {}
}

/** A batch with one event. The id of a buffer follows from its workflow and key. */
async function batch(): Promise<Ids> {
  const batched = { maxSize: 100, timeout: '1h', key: 'event.data.city' }
  const indexed = { handler: flow([]), registration: { triggers: [{ event: 'product/changed' }], batch: batched } }
  const runner = await new PlainRunner({
    app: 'shop',
    runner: 'shop-2',
    workflows: { 'index-products': indexed },
  }).listen()
  await runner.register(api)
  await api.send({ name: 'product/changed', data: { city: 'berlin' } })
  return {}
}

async function session(): Promise<Ids> {
  return { token: ((await api.post('/session', { key: KEY })).json as { token: string }).token }
}

/** Creates the things that an operation's examples need; for most operations, a finished order. */
async function bulk(): Promise<Ids> {
  const { json } = await api.post('/bulk', { action: 'cancel', ids: ['run_none'] })
  return { blk: (json as { bulkId: string }).bulkId }
}

const BEFORE: Record<string, () => Promise<Ids>> = {
  explainRun: waiting,
  readRunStream: waiting,
  cancelRun: waiting,
  completeCallback: callback,
  settleStep: waiting,
  signalRun: waiting,
  updateRun: answering,
  getRunUpdate: answered,
  listRunSignals: signalled,
  setRunBudget: budgeted,
  pauseRun: waiting,
  resumeRun: paused,
  getWebhookDelivery: delivered,
  redeliverWebhook: delivered,
  updateWebhookEndpoint: endpoint,
  deleteWebhookEndpoint: endpoint,
  testWebhookEndpoint: reachable,
  redeliverWebhooks: endpoint,
  updateWebhookReceiver: receiver,
  deleteWebhookReceiver: receiver,
  listWebhookRefusals: receiver,
  receiveWebhook: receiver,
  revokeApiKey: apiKey,
  endSession: session,
  deleteScheduledEvent: reminder,
  listSchedules: schedule,
  deleteSchedule: schedule,
  pauseSchedule: schedule,
  resumeSchedule: pausedSchedule,
  fireSchedule: schedule,
  deleteWorkflow: abandoned,
  deleteApp: abandoned,
  listBuffers: batch,
  flushBuffer: batch,
  resumeWorkflow: pausedWorkflow,
  setWorkflowLimits: finished,
  setErrorState: failed,
  deleteView: view,
  removeWorkflowLimits: finished,
  getBulk: bulk,
  stopBulk: bulk,
}

/** The answer that the example shows. */
function replyOf({ reply, otherwise }: ListedOperation, example: Example): Reply {
  return example.otherwise && otherwise ? otherwise : reply
}

const examples = all.flatMap(operation =>
  (operation.examples ?? []).map((example): [string, ListedOperation, Example] => [
    `${operation.id}: ${example.summary}`,
    operation,
    example,
  ]),
)

describe('GET /openapi.json', () => {
  test('is a valid OpenAPI 3.1 document, read without a key', async () => {
    const answer = await engine.api.get('/openapi.json')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    const validator = new Validator()
    const { valid, errors } = await validator.validate(answer.json as Record<string, unknown>)
    expect(valid, JSON.stringify(errors)).toBe(true)
    expect(validator.version).toBe('3.1')
    // Throws when a reference does not resolve.
    validator.resolveRefs()
  })
})

describe('the examples', () => {
  test('every operation has one, except the WebSocket, which is not a call that can be replayed', () => {
    const without = all.filter(({ examples = [] }) => examples.length === 0)
    expect(without.filter(({ reply }) => reply.status !== 101).map(({ id }) => id)).toEqual([])
  })

  test.each(examples)('%s: is whole, fits the schemas, and is answered as shown', async (_, operation, sample) => {
    const { method, body } = operation
    const reply = replyOf(operation, sample)
    expect(pathOf(operation, sample)).not.toContain('{')
    if (body?.required) expect(sample.body).toBeDefined()
    if (reply.schema && operation.path !== '/openapi.json') expect(sample.reply).toBeDefined()
    if (body && sample.body !== undefined) expectToFit(sample.body, body.schema, 'body')
    if (sample.reply !== undefined) expectToFit(sample.reply, reply.schema, 'reply')
    const before = BEFORE[operation.id] ?? finished
    const example = asHere(sample, await before())
    const path = pathOf(operation, example)
    if (reply.stream) {
      const frame = await firstFrame(path)
      expectToFit(frame, reply.schema, 'frame')
      return
    }
    const answer = await api.request(method, path, requestOf(example))
    expect(answer.status, answer.text).toBe(reply.status)
    if (reply.schema) expectToFit(answer.json, reply.schema, 'reply')
    else if (reply.contentType) expect(answer.headers.get('content-type')).toContain(reply.contentType)
    else expect(answer.text).toBe('')
  })

  const requestOf = ({ body, headers }: Example) =>
    body === undefined
      ? { headers: headers ?? {} }
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }

  /** Sends orders until the stream has sent something. */
  async function firstFrame(path: string): Promise<unknown> {
    let sent = false
    const read = readSse(api.base + path, {
      headers: { authorization: `Bearer ${KEY}` },
      stopWhen: messages => messages.length > 0,
    }).finally(() => {
      sent = true
    })
    while (!sent) await finished()
    const { status, contentType, messages } = await read
    expect([status, contentType]).toEqual([200, 'text/event-stream'])
    expect(messages[0]?.event).toBe(messages[0]?.data.kind)
    return messages[0]?.data
  }
})

test('an unknown field in a reply is noticed', () => {
  const schema = { type: 'object', required: ['a'], properties: { a: { type: 'string' } } }
  expect(() => expectToFit({ a: 'x', b: 1 }, schema, 'reply')).toThrow(/reply/)
  expect(() => expectToFit([{ a: 'x', b: 1 }], { type: 'array', items: schema }, 'reply')).toThrow(/reply/)
  expectToFit({ a: 'x' }, schema, 'reply')
})
