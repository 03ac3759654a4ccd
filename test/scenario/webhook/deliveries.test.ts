// Outbound webhooks: signed, retried, redelivered, and independent of each other (docs/webhooks.md#deliveries).

import { Webhook } from 'standardwebhooks'
import { describe, expect, test, vi } from 'vitest'
import { acts, gate, JumpClock, openDestination, openEngine, scenario, unique, until } from '../../kit/index.ts'
import { answer, type RawRequest } from '../../kit/servers/raw-server.ts'
import {
  API_KEYS,
  type AttemptRecord,
  hastySender,
  OTHER_KEY,
  SECRET_KEY,
  Webhooks,
} from '../../kit/webhook/webhooks.ts'

const clock = new JumpClock()
/** The middle of the range, which means no jitter. */
const random = { next: () => 0.5 }
const env = { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_SCHEDULE: '10s,20s' }
const { engine } = await scenario({ clock, env, ports: { random, sender: hastySender(clock, 400) } })
const webhooks = new Webhooks(engine.api.as(SECRET_KEY))
const { api } = webhooks
/** The target of redirects. */
const elsewhere = await openDestination(acts.status(200))

/** The verdict of the Standard Webhooks library on the request, at the engine's time. */
function verified(secret: string, { headers, body }: RawRequest): unknown {
  vi.useFakeTimers({ toFake: ['Date'], now: clock.now() })
  try {
    return new Webhook(secret).verify(body, headers)
  } finally {
    vi.useRealTimers()
  }
}

describe('a lifecycle delivery', () => {
  test('says what happened, signed as Standard Webhooks prescribes', async () => {
    const destination = await openDestination(acts.status(200))
    const { id, app, secret, runId, endpointId } = await webhooks.deliverOne(destination.url)
    const delivery = await webhooks.reaches(id, 'succeeded', 1)
    const at = new Date(clock.now()).toISOString()
    const payload = {
      type: 'run.succeeded',
      timestamp: at,
      data: { run: expect.objectContaining({ id: runId, status: 'succeeded', result: { ok: true } }) },
    }
    expect(delivery).toEqual({
      id,
      app,
      endpointId,
      url: destination.url,
      eventKind: 'run.succeeded',
      sourceRunId: runId,
      payload,
      status: 'succeeded',
      attemptCount: 1,
      maxAttempts: 3,
      lastStatusCode: 200,
      createdAt: at,
      updatedAt: at,
      attempts: [
        {
          id: expect.stringMatching(/^att_/),
          attempt: 1,
          outcome: 'succeeded',
          statusCode: 200,
          responseSnippet: 'noted',
          durationMs: 0,
          requestHeaders: expect.objectContaining({ 'webhook-id': id }),
          createdAt: at,
        },
      ],
    })
    const [post] = destination.requests as [RawRequest]
    expect(post.headers['webhook-id']).toBe(id)
    expect(verified(secret, post)).toEqual(payload)
    expect(() => verified(secret, { ...post, body: `${post.body} ` })).toThrow()
    expect(() => verified('whsec_c2VjcmV0IG51bWJlciB0d28=', post)).toThrow()
  })

  test('is signed with both secrets for a day after a rotation, and then with the new one alone', async () => {
    const destination = await openDestination(acts.status(200))
    const { id, secret, endpointId } = await webhooks.deliverOne(destination.url)
    await webhooks.reaches(id, 'succeeded', 1)
    const { secret: next } = (await webhooks.edit(endpointId, { rotateSecret: true })) as { secret: string }
    const redelivered = async (attempts: number) => {
      expect((await api.post(`/webhook-deliveries/${id}/redeliver`)).status).toBe(204)
      await webhooks.reaches(id, 'succeeded', attempts)
      return destination.requests.at(-1) as RawRequest
    }
    const during = await redelivered(2)
    expect(during.headers['webhook-signature']?.split(' ')).toHaveLength(2)
    expect(verified(secret, during)).toEqual(verified(next, during))
    clock.jump(24 * 3_600_000)
    const after = await redelivered(3)
    expect(after.headers['webhook-signature']?.split(' ')).toHaveLength(1)
    expect(verified(next, after)).toBeDefined()
    expect(() => verified(secret, after)).toThrow()
  })
})

describe('answers of a destination', () => {
  /** Follows the delivery through its retries, with a jump to the time of each. */
  async function followed(id: string, delaysMs: number[], end: string): Promise<AttemptRecord[]> {
    const times = [clock.now()]
    for (const [i, delayMs] of delaysMs.entries()) {
      const { nextAttemptAt } = await webhooks.reaches(id, 'failed', i + 1)
      expect(nextAttemptAt).toBe(new Date(clock.now() + delayMs).toISOString())
      clock.jump(delayMs)
      times.push(clock.now())
    }
    const delivery = await webhooks.reaches(id, end, times.length)
    expect(delivery).not.toHaveProperty('nextAttemptAt')
    expect(delivery.attempts.map(({ attempt }) => attempt)).toEqual(times.map((_, i) => i + 1))
    expect(delivery.attempts.map(({ createdAt }) => Date.parse(createdAt))).toEqual(times)
    expect(delivery.lastStatusCode).toBe(delivery.attempts.at(-1)?.statusCode)
    return delivery.attempts
  }

  const down = acts.status(503, 'down')
  const TEN_MB = 'y'.repeat(10_000_000)

  test.each<[string, Parameters<typeof openDestination>, number[], string, (number | string)[]]>([
    ['500 for ever', [acts.status(500)], [10_000, 20_000], 'exhausted', [500, 500, 500]],
    ['503, then 204', [down, acts.status(204, '')], [10_000], 'succeeded', [503, 204]],
    [
      '429 with Retry-After',
      [acts.status(429, '', { 'retry-after': '60' }), acts.status(200)],
      [60_000],
      'succeeded',
      [429, 200],
    ],
    [
      '429 that asks for less',
      [acts.status(429, '', { 'retry-after': '1' }), acts.status(200)],
      [10_000],
      'succeeded',
      [429, 200],
    ],
    ['400', [acts.status(400)], [], 'dead', [400]],
    ['a redirect to loopback', [acts.status(302, '', { location: elsewhere.url })], [], 'dead', [302]],
    ['no answer', [acts.hang], [10_000, 20_000], 'exhausted', ['timeout', 'timeout', 'timeout']],
    ['a reset', [acts.reset, acts.status(200)], [10_000], 'succeeded', ['connection_error', 200]],
    ['200 and a body that drips', [acts.drip(200)], [], 'succeeded', [200]],
    ['503 and a body that drips', [acts.drip(503), acts.status(200)], [10_000], 'succeeded', [503, 200]],
    ['10 MB', [acts.status(200, TEN_MB)], [], 'succeeded', [200]],
  ])('%s', async (_, script, delaysMs, end, outcomes) => {
    const destination = await openDestination(...script)
    const { id, secret } = await webhooks.deliverOne(destination.url)
    const attempts = await followed(id, delaysMs, end)
    expect(attempts.map(({ statusCode, outcome }) => statusCode ?? outcome)).toEqual(outcomes)
    for (const { statusCode, error, responseSnippet } of attempts) {
      expect(responseSnippet === undefined).toBe(statusCode === undefined)
      expect(typeof error).toBe(statusCode === undefined ? 'string' : 'undefined')
      expect(responseSnippet?.length ?? 0).toBeLessThanOrEqual(4096)
    }
    expect(destination.requests).toHaveLength(outcomes.length)
    expect(new Set(destination.requests.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([id]))
    expect(new Set(destination.requests.map(({ body }) => body)).size).toBe(1)
    expect(verified(secret, destination.requests.at(-1) as RawRequest)).toBeDefined()
    expect(elsewhere.connections).toBe(0)
  })

  test('410: dead, and the endpoint is disabled, even if it is edited at the same time', async () => {
    const arrived = gate<RawRequest>()
    const destination = await openDestination(request => arrived.open(request))
    const { id, app, endpointId } = await webhooks.deliverOne(destination.url)
    const request = await arrived.opened
    await webhooks.edit(endpointId, { name: 'renamed' })
    answer(request, 410)
    await webhooks.reaches(id, 'dead', 1)
    const list = (await api.get('/webhook-endpoints')).json as { id: string }[]
    expect(list.find(endpoint => endpoint.id === endpointId)).toMatchObject({
      name: 'renamed',
      enabled: false,
      disabledReason: expect.stringContaining('410'),
    })
    await webhooks.runs(app)
    expect(await webhooks.list(`?app=${app}`)).toHaveLength(1)
  })

  test('410 from a URL that the endpoint has left does not disable it', async () => {
    const arrived = gate<RawRequest>()
    const [left, destination] = [
      await openDestination(request => arrived.open(request)),
      await openDestination(acts.status(200)),
    ]
    const { id, endpointId } = await webhooks.deliverOne(left.url)
    const request = await arrived.opened
    await webhooks.edit(endpointId, { url: destination.url })
    answer(request, 410)
    expect(await webhooks.reaches(id, 'dead', 1)).toMatchObject({ url: left.url, lastStatusCode: 410 })
    const list = (await api.get('/webhook-endpoints')).json as { id: string }[]
    expect(list.find(endpoint => endpoint.id === endpointId)).toMatchObject({ enabled: true })
  })
})

describe('an endpoint that changes between attempts', () => {
  test('is called at its new URL', async () => {
    const [old, destination] = [await openDestination(acts.status(500)), await openDestination(acts.status(200))]
    const { id, endpointId } = await webhooks.deliverOne(old.url)
    await webhooks.reaches(id, 'failed', 1)
    await webhooks.edit(endpointId, { url: destination.url })
    clock.jump(10_000)
    expect(await webhooks.reaches(id, 'succeeded', 2)).toMatchObject({ url: destination.url })
    expect([old.requests.length, destination.requests.length]).toEqual([1, 1])
  })

  test.each(['disabled', 'deleted'])('is not called when it is %s: skipped, and dead', async how => {
    const destination = await openDestination(acts.status(500))
    const { id, endpointId } = await webhooks.deliverOne(destination.url)
    await webhooks.reaches(id, 'failed', 1)
    if (how === 'disabled') await webhooks.edit(endpointId, { enabled: false })
    else expect((await api.request('DELETE', `/webhook-endpoints/${endpointId}`)).status).toBe(204)
    clock.jump(10_000)
    const { attempts, ...delivery } = await webhooks.reaches(id, 'dead', 2)
    expect(attempts[1]).toMatchObject({ outcome: 'skipped', error: `the endpoint is ${how}`, durationMs: 0 })
    expect(delivery).not.toHaveProperty('lastStatusCode')
    expect(destination.requests).toHaveLength(1)
  })
})

describe('POST /webhook-deliveries/{id}/redeliver', () => {
  const redeliver = (id: string, as = api) => as.post(`/webhook-deliveries/${id}/redeliver`)

  test('gives an exhausted delivery another full schedule; its attempts stay', async () => {
    const destination = await openDestination(...Array.from({ length: 5 }, () => acts.status(500)), acts.status(200))
    const { id, secret } = await webhooks.deliverOne(destination.url)
    await webhooks.reaches(id, 'failed', 1)
    clock.jump(10_000)
    await webhooks.reaches(id, 'failed', 2)
    clock.jump(20_000)
    const { attempts } = await webhooks.reaches(id, 'exhausted', 3)
    const answered = await redeliver(id)
    expect([answered.status, answered.text]).toEqual([204, ''])
    expect(await webhooks.reaches(id, 'failed', 4)).toMatchObject({
      maxAttempts: 6,
      nextAttemptAt: new Date(clock.now() + 10_000).toISOString(),
    })
    clock.jump(10_000)
    await webhooks.reaches(id, 'failed', 5)
    clock.jump(20_000)
    const after = await webhooks.reaches(id, 'succeeded', 6)
    expect(after.attempts.slice(0, 3)).toEqual(attempts)
    const last = destination.requests.at(-1) as RawRequest
    expect(verified(secret, last)).toBeDefined()
    expect(Number(last.headers['webhook-timestamp'])).toBe(Math.floor(clock.now() / 1000))
  })

  test.each([
    ['succeeded', 200],
    ['dead', 404],
    ['failed', 500],
  ])('delivers one that has %s once more, at once', async (status, code) => {
    const destination = await openDestination(acts.status(code), acts.status(200))
    const { id } = await webhooks.deliverOne(destination.url)
    await webhooks.reaches(id, status, 1)
    expect((await redeliver(id)).status).toBe(204)
    expect(await webhooks.reaches(id, 'succeeded', 2)).toMatchObject({ maxAttempts: 4 })
  })

  test('is 409 while it is delivering, and the POST in flight counts', async () => {
    const arrived = gate<RawRequest>()
    const destination = await openDestination(request => arrived.open(request))
    const { id } = await webhooks.deliverOne(destination.url)
    const request = await arrived.opened
    expect(await webhooks.delivery(id)).toMatchObject({ status: 'delivering', attempts: [] })
    expect(await redeliver(id)).toMatchObject({ status: 409, code: 'delivery_in_flight' })
    answer(request, 200)
    expect(await webhooks.reaches(id, 'succeeded', 1)).toMatchObject({ maxAttempts: 3 })
  })

  test('many at once deliver it at least once, and number the attempts without a gap', async () => {
    const destination = await openDestination(acts.status(404), acts.status(200))
    const { id } = await webhooks.deliverOne(destination.url)
    await webhooks.reaches(id, 'dead', 1)
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeliver(id)))
    for (const { status } of answers) expect([204, 409]).toContain(status)
    expect(answers[0]?.status).toBe(204)
    const { attempts } = await until(
      async () => {
        const delivery = await webhooks.delivery(id)
        return delivery.status === 'succeeded' && delivery
      },
      { what: 'the redelivery' },
    )
    expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, i) => i + 1))
    expect(destination.requests).toHaveLength(attempts.length)
  })
})

describe('the log of deliveries', () => {
  test('lists by app and status, in pages, of its own namespace', async () => {
    const destination = await openDestination(acts.status(404), acts.status(200))
    const app = unique('app')
    await webhooks.endpoint({ app, url: destination.url })
    await webhooks.runs(app, 5)
    await until(async () => (await webhooks.list(`?app=${app}&status=succeeded`)).length === 4)
    const all = await webhooks.list(`?app=${app}`)
    expect(all).toHaveLength(5)
    expect(all[0]).not.toHaveProperty('attempts')
    expect(all.map(({ id }) => id)).toEqual(
      [...all].sort((a, b) => b.createdAt.localeCompare(a.createdAt) || (a.id < b.id ? 1 : -1)).map(({ id }) => id),
    )
    const met: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const { json, headers } = await api.get(`/webhook-deliveries?app=${app}&limit=2${from}`)
      met.push(...(json as { id: string }[]).map(({ id }) => id))
      cursor = headers.get('x-next-cursor')
    }
    expect(met).toEqual(all.map(({ id }) => id))
    expect(await webhooks.list(`?app=${app}&status=dead`)).toHaveLength(1)
    expect(await webhooks.list(`?app=${app}&limit=0`)).toHaveLength(1)
    const counts = (await api.get(`/webhook-deliveries/facets?app=${app}`)).json
    expect(counts).toEqual({ status: { pending: 0, delivering: 0, succeeded: 4, failed: 0, exhausted: 0, dead: 1 } })
    expect((await api.as(OTHER_KEY).get(`/webhook-deliveries?app=${app}`)).json).toEqual([])
    expect((await api.as(OTHER_KEY).get(`/webhook-deliveries/${met[0]}`)).status).toBe(404)
    const { headers } = await api.get(`/webhook-deliveries?app=${app}&limit=2`)
    const elsewhere = await api.get(`/webhook-deliveries?app=other&cursor=${headers.get('x-next-cursor')}`)
    expect(elsewhere).toMatchObject({ status: 400, code: 'invalid_cursor' })
    expect(await api.get('/webhook-deliveries?status=lost')).toMatchObject({
      status: 400,
      code: 'invalid_request',
    })
  })

  test('counts them for each endpoint', async () => {
    const destination = await openDestination(acts.status(404), acts.status(500), acts.status(200))
    const app = unique('app')
    const { id } = await webhooks.endpoint({ app, url: destination.url })
    await webhooks.runs(app, 4)
    await until(async () => (await webhooks.list(`?app=${app}&status=succeeded`)).length === 2)
    const statsSince = async (ms: number) => {
      const since = encodeURIComponent(new Date(ms).toISOString())
      const rows = (await api.get(`/webhook-endpoints/stats?since=${since}`)).json as { endpointId: string }[]
      return rows.find(({ endpointId }) => endpointId === id)
    }
    const lastDelivery = new Date(clock.now()).toISOString()
    expect(await statsSince(clock.now())).toEqual({
      endpointId: id,
      delivered: 4,
      succeeded: 2,
      failed: 1,
      lastDelivery,
    })
    expect(await statsSince(clock.now() + 1)).toMatchObject({ delivered: 0 })
  })
})

test('an endpoint that hangs holds up only its own deliveries', async () => {
  const held: RawRequest[] = []
  let hangs = true
  const slow = await openDestination(request => (hangs ? held.push(request) : answer(request, 200)))
  const prompt = await openDestination(acts.status(200))
  const patient = await openEngine({ clock, env: { ...env, ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' } })
  const others = new Webhooks(patient.api.as(SECRET_KEY))
  const app = unique('app')
  await others.endpoint({ app, url: slow.url })
  await others.runs(app, 60)
  await until(() => held.length === 1)
  for (let i = 0; i < 5; i++) {
    const { id } = await others.deliverOne(prompt.url)
    await others.reaches(id, 'succeeded', 1)
  }
  expect(held).toHaveLength(1)
  expect(await others.list(`?app=${app}&status=pending`)).toHaveLength(59)
  // The backlog drains when the endpoint answers again.
  hangs = false
  answer(held[0] as RawRequest, 200)
  await until(async () => (await others.list(`?app=${app}&status=succeeded`)).length === 60)
  expect(slow.requests).toHaveLength(60)
})
