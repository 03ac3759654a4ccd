// Tests of endpoints: one signed post, and its outcome as the answer (docs/webhooks.md#test-an-endpoint).

import type { ControlAction, WebhookDeliveryDetail, WebhookSeriesPoint } from '@perdure/protocol'
import { Webhook } from 'standardwebhooks'
import { expect, test, vi } from 'vitest'
import { acts, gate, JumpClock, openDestination, scenario, until } from '../../kit/index.ts'
import { answer, type RawRequest } from '../../kit/servers/raw-server.ts'
import { API_KEYS, hastySender, OTHER_KEY, SECRET_KEY, Webhooks } from '../../kit/webhook/webhooks.ts'

const clock = new JumpClock()
const env = { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_SCHEDULE: '10s,20s' }
const { engine } = await scenario({ clock, env, ports: { sender: hastySender(clock, 400) } })
const webhooks = new Webhooks(engine.api.as(SECRET_KEY))
const { api } = webhooks

const post = (id: string, as = api) => as.post(`/webhook-endpoints/${id}/test`)
async function tested(id: string): Promise<WebhookDeliveryDetail> {
  const { status, text, json } = await post(id)
  expect(status, text).toBe(200)
  return json as WebhookDeliveryDetail
}

test('posts a signed test at once, and answers with the delivery and what was sent', async () => {
  const destination = await openDestination(acts.status(200, 'thanks'))
  const { id, secret } = await webhooks.endpoint({ url: destination.url })
  const delivery = await tested(id)
  const at = new Date(clock.now()).toISOString()
  const [request] = destination.requests as [RawRequest]
  expect(delivery).toMatchObject({
    endpointId: id,
    url: destination.url,
    eventKind: 'test',
    payload: { type: 'test', timestamp: at, data: { endpointId: id } },
    status: 'succeeded',
    attemptCount: 1,
    maxAttempts: 1,
    lastStatusCode: 200,
    attempts: [{ attempt: 1, outcome: 'succeeded', responseSnippet: 'thanks' }],
  })
  expect(delivery).not.toHaveProperty('sourceRunId')
  vi.useFakeTimers({ toFake: ['Date'], now: clock.now() })
  const verified = new Webhook(secret).verify(request.body, request.headers)
  vi.useRealTimers()
  expect(verified).toEqual(delivery.payload)
  const signature = request.headers['webhook-signature'] as string
  expect(delivery.attempts[0]?.requestHeaders).toEqual({
    'content-type': 'application/json',
    'user-agent': 'perdure/webhooks',
    'webhook-id': delivery.id,
    'webhook-timestamp': request.headers['webhook-timestamp'],
    'webhook-signature': `${signature.slice(0, 11)}…`,
    traceparent: request.headers.traceparent,
  })
  expect(await webhooks.delivery(delivery.id)).toEqual(delivery)
})

test.each([
  ['an error', acts.status(503), 'exhausted', 'http_error'],
  ['a refusal', acts.status(400), 'dead', 'http_error'],
  ['no answer in time', acts.hang, 'exhausted', 'timeout'],
  ['a reset', acts.reset, 'exhausted', 'connection_error'],
] as const)('answers %s as it is, and does not repeat it', async (_, act, status, outcome) => {
  const destination = await openDestination(act)
  const { id } = await webhooks.endpoint({ url: destination.url })
  const delivery = await tested(id)
  expect(delivery).toMatchObject({ status, attemptCount: 1, attempts: [{ outcome }] })
  expect(delivery).not.toHaveProperty('nextAttemptAt')
  clock.jump(3_600_000)
  expect(await webhooks.delivery(delivery.id)).toEqual(delivery)
  expect(destination.requests).toHaveLength(1)
})

test('a disabled endpoint is posted to, and stays disabled', async () => {
  const destination = await openDestination()
  const { id } = await webhooks.endpoint({ url: destination.url, enabled: false })
  expect(await tested(id)).toMatchObject({ status: 'succeeded' })
  const list = (await api.get('/webhook-endpoints')).json as { id: string; enabled: boolean }[]
  expect(list.find(endpoint => endpoint.id === id)?.enabled).toBe(false)
})

test('is in the audit log, and in neither the statistics nor the series', async () => {
  const destination = await openDestination()
  const { id } = await webhooks.endpoint({ url: destination.url })
  const { id: deliveryId } = await tested(id)
  const [entry] = (await api.get('/control-actions?action=endpoint.test&limit=1')).json as [ControlAction]
  expect(entry).toMatchObject({ action: 'endpoint.test', actor: 'ops', detail: { id, deliveryId } })
  const stats = (await api.get('/webhook-endpoints/stats')).json as { endpointId: string; delivered: number }[]
  expect(stats.find(({ endpointId }) => endpointId === id)).toMatchObject({ delivered: 0 })
  const series = (await api.get(`/webhook-endpoints/series?endpointId=${id}`)).json as WebhookSeriesPoint[]
  expect(series.reduce((sum, { succeeded, failed }) => sum + succeeded + failed, 0)).toBe(0)
  expect((await webhooks.list('?eventKind=test&limit=1')).map(each => each.id)).toEqual([deliveryId])
})

test('at most four of a namespace are under way at once', async () => {
  const arrived = gate<RawRequest>()
  const held: RawRequest[] = []
  const destination = await openDestination(request => {
    held.push(request)
    if (held.length === 4) arrived.open(request)
  })
  const { id } = await webhooks.endpoint({ url: destination.url })
  const quick = new Webhooks(api.as(OTHER_KEY))
  const elsewhere = await quick.endpoint({ url: (await openDestination()).url })
  const four = Promise.all([tested(id), tested(id), tested(id), tested(id)])
  await arrived.opened
  expect(await post(id)).toMatchObject({ status: 503, code: 'overloaded' })
  expect((await post(elsewhere.id, quick.api)).status).toBe(200)
  for (const request of held) answer(request, 200)
  expect((await four).map(({ status }) => status)).toEqual(Array(4).fill('succeeded'))
  await until(async () => (await post(id)).status === 200)
})
