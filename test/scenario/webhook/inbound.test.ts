// Posts of providers to receivers: verified, mapped to events, deduplicated (docs/webhooks.md#receive-webhooks).

import { openAdministration } from '@perdure/engine'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import {
  onCleanup,
  openEngine,
  PlainRunner,
  postWebhook,
  returned,
  type Scheme,
  scenario,
  signedHeaders,
  unique,
  until,
} from '../../kit/index.ts'
import { type Created, INBOUND_KEY, INBOUND_KEYS, Inbound } from '../../kit/webhook/inbound.ts'

const { clock, engine } = await scenario({ onDisk: true, env: { ENGINE_API_KEYS: INBOUND_KEYS } })
const inbound = new Inbound(engine.api, clock)
const { api, there, post, receiver, eventOf, eventsNamed } = inbound

const HOUR_MS = 3_600_000
const MIB = 1024 * 1024

/** A registered runner with one workflow that the event triggers. */
async function listener(app: string, event: string): Promise<void> {
  const workflows = { listen: { handler: () => returned(), registration: { triggers: [{ event }] } } }
  await (await new PlainRunner({ app, workflows }).listen()).register(api)
}

describe('a verified post', () => {
  test('is an event of the receiver, and starts the runs it triggers', async () => {
    const [app, name] = [unique('app'), unique('order/paid')]
    await listener(app, name)
    await listener(unique('other-app'), name)
    const answer = await post(await receiver({ eventName: name, app }), '{"n":1}')
    expect(answer.json).toEqual({ eventId: expect.stringMatching(/^evt_/) })
    const event = await eventOf(answer)
    expect(event).toMatchObject({ name, app, source: 'api', data: { n: 1 } })
    expect(event.triggered).toEqual([{ workflow: 'listen', app, runId: expect.any(String) }])
    const run = await api.succeeded(event.triggered[0]?.runId as string)
    expect(run).toMatchObject({ eventId: event.id, eventName: name, input: { n: 1 } })
  })

  test('without an app is a broadcast; with a target app only that one is triggered, whatever the app', async () => {
    const [one, two, name] = [unique('app'), unique('app'), unique('broadcast')]
    await listener(one, name)
    await listener(two, name)
    const appsOf = async (fields: object) => {
      const event = await eventOf(await post(await receiver({ eventName: name, ...fields }), '{}'))
      return [event.app, ...event.triggered.map(({ app }) => app)]
    }
    expect(await appsOf({})).toEqual([undefined, one, two])
    expect(await appsOf({ targetApp: two })).toEqual([undefined, two])
    expect(await appsOf({ app: one, targetApp: two })).toEqual([one, two])
  })

  test("belongs to the receiver's namespace and no other, whichever key it carries", async () => {
    const name = unique('elsewhere')
    const hook = await receiver({ eventName: name }, there)
    const answer = await post(hook, '1', { headers: { authorization: `Bearer ${INBOUND_KEY}` } })
    expect(await eventOf(answer, there)).toMatchObject({ name, data: 1 })
    expect(await eventsNamed(name)).toEqual([])
    expect((await post(hook, '2', { headers: { authorization: 'Bearer nonsense' } })).status).toBe(202)
  })

  test('keeps the headers that its receiver names beside the body, and names the receiver', async () => {
    const hook = await receiver({
      eventName: unique('push'),
      scheme: 'github',
      keepHeaders: ['X-GitHub-Event', 'x-missing'],
    })
    const { id } = hook
    const event = await eventOf(await post(hook, '{"n":1.0}', { headers: { 'x-github-event': 'push' } }))
    expect(event).toMatchObject({ receiverId: id, data: { headers: { 'x-github-event': 'push' }, body: { n: 1 } } })
    expect((await api.get(`/events/${event.id}`)).text).toContain(
      '"data":{"headers":{"x-github-event":"push"},"body":{"n":1.0}}',
    )
    const edit = (keepHeaders: unknown) =>
      api.request('PATCH', `/webhook-receivers/${id}`, {
        body: JSON.stringify({ keepHeaders }),
        headers: { 'content-type': 'application/json' },
      })
    for (const name of ['Authorization', 'cookie', 'X-Hub-Signature-256'])
      expect(await edit([name]), name).toMatchObject({ status: 400, code: 'invalid_request' })
    expect((await edit(null)).json).not.toHaveProperty('keepHeaders')
    expect(await eventOf(await post(hook, '[2]'))).toMatchObject({ receiverId: id, data: [2] })
  })

  test.each<Scheme>(['standard-webhooks', 'github', 'stripe', 'slack', 'hmac-sha256'])(
    'of %s verifies with a secret that was made, and with one that was brought',
    async scheme => {
      const brought =
        scheme === 'standard-webhooks' ? `whsec_${Buffer.alloc(24, 1).toString('base64')}` : 'sixteen letters!'
      for (const fields of [{ scheme }, { scheme, secret: brought }]) {
        const answer = await post(await receiver(fields), '{"id":"evt_1","naïve":"☃"}')
        expect(await eventOf(answer)).toMatchObject({ data: { id: 'evt_1', naïve: '☃' } })
      }
    },
  )

  test('may be signed by the reference library of Standard Webhooks', async () => {
    const hook = await receiver()
    const [id, at, body] = ['msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', new Date(clock.now()), '{"type":"user.created"}']
    const answer = await post(hook, body, {
      headers: {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(hook.secret).sign(id, at, body),
      },
    })
    expect(await eventOf(answer)).toMatchObject({ data: { type: 'user.created' } })
  })

  test('is an ordinary event in a suspended namespace: it is recorded, and starts nothing', async () => {
    const [app, name] = [unique('app'), unique('suspended')]
    await listener(app, name)
    const hook = await receiver({ eventName: name })
    const { administration, close } = await openAdministration(`sqlite:${engine.storeFile}`)
    onCleanup(close)
    const suspended = async (expected: boolean) =>
      until(
        async () => {
          clock.jump(1000)
          const { json } = await api.post('/events', { name: unique('nothing') })
          return ((json as { suspended?: true }).suspended ?? false) === expected
        },
        { what: `suspended: ${expected}` },
      )
    await administration.suspend('default')
    await suspended(true)
    expect(await eventOf(await post(hook, '1'))).toMatchObject({ data: 1, triggered: [] })
    await administration.resume('default')
    await suspended(false)
    expect((await eventOf(await post(hook, '2'))).triggered).toHaveLength(1)
  })
})

describe('the data of the event', () => {
  const FORM = 'application/x-www-form-urlencoded'
  const dataText = async (body: string | Uint8Array, type: string) => {
    const answer = await post(await receiver({ scheme: 'hmac-sha256' }), body, {
      headers: { 'content-type': type },
    })
    const { id } = await eventOf(answer)
    return /"data":(.*)}$/s.exec((await api.get(`/events/${id}`)).text)?.[1]
  }

  test('is JSON as it came, whatever the content type', async () => {
    const text = '{"n":12345678901234567890,"f":1.10,"a":1,"a":2,"z":"\\u0000\\ud800"}'
    for (const type of [
      'application/json',
      'text/plain',
      'application/cloudevents+json',
      'image/png; charset=x',
      '',
      'x',
      ';',
      'a/b c',
    ])
      expect(await dataText(text, type)).toBe(text)
  })

  test('may come without a content type', async () => {
    const { slug, secret } = await receiver({ scheme: 'github' })
    const body = new TextEncoder().encode('{"n":1}')
    const headers = signedHeaders({ scheme: 'github', secret, body, at: clock.now() })
    expect(await eventOf(await api.request('POST', `/webhooks/${slug}`, { body, headers }))).toMatchObject({
      data: { n: 1 },
    })
  })

  test('of a form is an object of its fields, or the JSON in its one field payload', async () => {
    expect(await dataText('a=1&b=x+y&a=2', FORM)).toBe('{"a":["1","2"],"b":"x y"}')
    expect(await dataText(`payload=${encodeURIComponent('{"n":1.0}')}`, FORM)).toBe('{"n":1.0}')
  })

  test('of other text is a string; an empty body has none', async () => {
    expect(await dataText('plain\ntext', 'text/plain')).toBe('"plain\\ntext"')
    expect(await dataText('', 'application/json')).toBeUndefined()
  })

  test('nests 200 levels; deeper is 400, and so are bytes that are not UTF-8', async () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(await dataText(nested(200), 'application/json')).toBe(nested(200))
    const name = unique('refused')
    const hook = await receiver({ eventName: name })
    expect(await post(hook, nested(201))).toMatchObject({ status: 400, code: 'invalid_json' })
    const bytes = new Uint8Array([0x22, 0xff, 0x22])
    expect(await post(hook, bytes)).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(await eventsNamed(name)).toEqual([])
  })

  test('is 1 MiB at most: more is 413, and a compressed body 415', async () => {
    const name = unique('bounded')
    const hook = await receiver({ eventName: name })
    const sized = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`
    expect((await post(hook, sized(MIB))).status).toBe(202)
    expect(await post(hook, sized(MIB + 1))).toMatchObject({ status: 413, code: 'payload_too_large' })
    const gzip = { headers: { 'content-encoding': 'gzip' } }
    expect(await post(hook, '{}', gzip)).toMatchObject({ status: 415, code: 'unsupported_media_type' })
    expect((await post(hook, '{}', { headers: { 'content-encoding': 'identity' } })).status).toBe(202)
    expect(await eventsNamed(name)).toHaveLength(2)
  })
})

describe('a repeat of a message id', () => {
  test('is dropped for 24 h', async () => {
    const name = unique('once')
    const hook = await receiver({ eventName: name })
    const send = async () => (await post(hook, '{}', { id: 'msg_same' })).json
    expect(await send()).toEqual({ eventId: expect.any(String) })
    expect(await send()).toEqual({ deduped: true })
    clock.jump(24 * HOUR_MS - 1)
    expect(await send()).toEqual({ deduped: true })
    clock.jump(1)
    expect(await send()).toEqual({ eventId: expect.any(String) })
    expect(await eventsNamed(name)).toHaveLength(2)
  })

  test('many times at once leaves one event', async () => {
    const name = unique('storm')
    const hook = await receiver({ eventName: name })
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(hook, '{}', { id: 'msg_storm' })))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(202))
    expect(answers.filter(({ json }) => 'eventId' in (json as object))).toHaveLength(1)
    expect(await eventsNamed(name)).toHaveLength(1)
  })

  test.each<[Scheme, string, string]>([
    ['github', '{"n":1}', '{"n":2}'],
    ['hmac-sha256', '{"n":1}', '{"n":2}'],
    ['stripe', '{"id":"evt_a"}', '{"id":"evt_b"}'],
    ['slack', '{"event_id":"Ev1"}', '{"event_id":"Ev2"}'],
  ])('of %s is recognised by its own id', async (scheme, one, two) => {
    const hook = await receiver({ scheme })
    const send = async (body: string, id: string) => (await post(hook, body, { id })).json
    expect(await send(one, 'a')).toHaveProperty('eventId')
    expect(await send(one, 'a')).toEqual({ deduped: true })
    expect(await send(two, 'b')).toHaveProperty('eventId')
  })

  test.each<Scheme>(['github', 'hmac-sha256'])(
    'of %s, whose id is not signed, under another id or none is dropped for 24 h',
    async scheme => {
      const [name, body] = [unique('replayed'), '{"n":1}']
      const [hook, other] = [await receiver({ scheme, eventName: name }), await receiver({ scheme })]
      const send = async (id: string, to = hook) => (await post(to, body, { id })).json
      const headers = signedHeaders({ scheme, secret: hook.secret, body, at: clock.now() })
      const withoutId = async () => (await api.request('POST', `/webhooks/${hook.slug}`, { body, headers })).json
      expect(await send('first')).toHaveProperty('eventId')
      expect(await send('replayed')).toEqual({ deduped: true })
      expect(await withoutId()).toEqual({ deduped: true })
      expect(await send('first', other)).toHaveProperty('eventId')
      clock.jump(24 * HOUR_MS)
      expect(await send('later')).toHaveProperty('eventId')
      expect(await eventsNamed(name)).toHaveLength(2)
    },
  )

  test('cannot be recognised when the provider sends no id: nothing is dropped', async () => {
    for (const [scheme, body] of [
      ['stripe', '[]'],
      ['slack', 'command=%2Fx'],
      ['github', '{}'],
    ] as const) {
      const hook = await receiver({ scheme })
      for (const _ of [1, 2]) {
        const signed = signedHeaders({ scheme, secret: hook.secret, body, at: clock.now() })
        const answer = await api.request('POST', `/webhooks/${hook.slug}`, { body, headers: signed })
        expect(answer.json, scheme).toHaveProperty('eventId')
      }
    }
  })

  test("counts for its receiver alone: not for another receiver, and not for an event's dedupeId", async () => {
    const [app, name] = [unique('app'), unique('spaces')]
    const [one, two] = [await receiver({ eventName: name, app }), await receiver({ eventName: name, app })]
    expect(await api.send({ name, app, dedupeId: 'shared' })).toHaveProperty('eventId')
    for (const hook of [one, two]) expect((await post(hook, '{}', { id: 'shared' })).json).toHaveProperty('eventId')
    expect(await api.send({ name, dedupeId: 'shared' })).toHaveProperty('eventId')
    expect(await api.send({ name, app, dedupeId: 'shared' })).toEqual({ deduped: true })
  })

  test('may be of any length and of any characters', async () => {
    const hook = await receiver({ scheme: 'stripe' })
    for (const id of ['x'.repeat(100_000), '\u0000', '\u0007\n', '☃', '\ud800']) {
      const send = async () => (await post(hook, JSON.stringify({ id }))).json
      expect(await send()).toHaveProperty('eventId')
      expect(await send()).toEqual({ deduped: true })
    }
  })
})

describe('a handshake', () => {
  const challenge = {
    token: 't',
    type: 'url_verification',
    challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7',
  }

  test('of Slack is answered with the challenge, and is no event', async () => {
    const name = unique('slack')
    const hook = await receiver({ scheme: 'slack', eventName: name })
    const answer = await post(hook, JSON.stringify(challenge))
    expect(answer).toMatchObject({ status: 200, json: { challenge: challenge.challenge } })
    expect(await eventsNamed(name)).toEqual([])
  })

  test('of GitHub is its ping, and is no event', async () => {
    const name = unique('github')
    const hook = await receiver({ scheme: 'github', eventName: name })
    const send = (event: string) =>
      post(hook, '{"zen":"Keep it logically awesome."}', { headers: { 'x-github-event': event } })
    expect(await send('ping')).toMatchObject({ status: 200, json: {} })
    expect(await eventsNamed(name)).toEqual([])
    expect((await send('push')).status).toBe(202)
  })

  test('is verified too', async () => {
    const hook = await receiver({ scheme: 'slack' })
    const answer = await post(hook, JSON.stringify(challenge), { secret: 'another secret of somebody' })
    expect(answer).toMatchObject({ status: 401 })
    expect(answer.text).not.toContain(challenge.challenge)
  })

  test('belongs to its provider: for another scheme it is an ordinary event', async () => {
    expect(await eventOf(await post(await receiver(), JSON.stringify(challenge)))).toMatchObject({
      data: challenge,
    })
  })
})

test('the slug and the body of a post are never logged', async () => {
  const hook = await receiver({ slug: 'a-slug-to-look-for' })
  await post(hook, '{"card":"4111-1111"}')
  await post(hook, '{"card":"4111-1111"}', { secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` })
  expect(engine.log.join('\n')).not.toMatch(/a-slug-to-look-for|4111-1111/)
})

test('without any key configured a post still needs its signature and its receiver', async () => {
  const first = await openEngine({ onDisk: true, clock, env: { ENGINE_API_KEYS: INBOUND_KEYS } })
  const created = await first.api.as(INBOUND_KEY).post('/webhook-receivers', { eventName: 'x', scheme: 'github' })
  const { slug, secret } = created.json as Created
  await first.stop()
  const open = await openEngine({ clock, storeFile: first.storeFile })
  const signed = { scheme: 'github', secret, body: '{}', at: clock.now(), id: 'a' } as const
  expect((await postWebhook(open.api, slug, signed)).status).toBe(202)
  expect((await postWebhook(open.api, slug, { ...signed, secret: 'x'.repeat(20) })).status).toBe(401)
})
