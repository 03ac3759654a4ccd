// Webhook receivers: create, list, change, rotate, delete (docs/http-api/webhooks.md#webhookreceiver).

import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WebhookReceiver } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  type Api,
  type OpenEngine,
  openDatabase,
  openEngine,
  postWebhook,
  type Scheme,
  scenario,
  unique,
} from '../../kit/index.ts'

type Created = WebhookReceiver & { secret: string }

const keyOf = (kind: string, namespace: string) => `${kind}-key-of-${namespace}-0123456789`
const keys = ['default', 'other'].flatMap(namespace =>
  (['secret', 'read', 'event', 'runner'] as const).map(kind => ({
    label: kind,
    namespace,
    kind,
    key: keyOf(kind, namespace),
  })),
)
const NEW_KEY = 'new-passphrase-of-32-bytes-or-more'
const env = { ENGINE_API_KEYS: JSON.stringify(keys), ENGINE_ENCRYPTION_KEY: 'old-passphrase-of-32-bytes-or-more' }
const { clock, engine } = await scenario({ onDisk: true, env })
const here = engine.api.as(keyOf('secret', 'default'))
const there = engine.api.as(keyOf('secret', 'other'))

const HOUR_MS = 3_600_000
const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`

async function create(api: Api, fields: object = {}): Promise<Created> {
  const answer = await api.post('/webhook-receivers', { eventName: unique('hook'), ...fields })
  expect(answer.status, answer.text).toBe(201)
  return answer.json as Created
}

function patch(api: Api, id: string, body: unknown) {
  const headers = { 'content-type': 'application/json' }
  return api.request('PATCH', `/webhook-receivers/${id}`, { body: JSON.stringify(body), headers })
}

const remove = (api: Api, id: string) => api.request('DELETE', `/webhook-receivers/${id}`)
const list = async (api: Api) => (await api.get('/webhook-receivers')).json as WebhookReceiver[]
const listed = async (api: Api, id: string) => (await list(api)).find(receiver => receiver.id === id)
const withoutSecret = ({ secret: _, ...receiver }: Created): WebhookReceiver => receiver

let messages = 0
/** The status of a new message signed with that secret. */
async function posted({ slug, scheme }: WebhookReceiver, secret: string): Promise<number> {
  const id = `msg_${++messages}`
  return (await postWebhook(engine.api, slug, { scheme, secret, body: '{}', at: clock.now(), id })).status
}

describe('create', () => {
  test('needs only an event name: the slug and the secret are generated', async () => {
    const { secret, ...receiver } = await create(here, { eventName: 'order/paid' })
    const at = new Date(clock.now()).toISOString()
    expect(receiver).toEqual({
      id: expect.stringMatching(/^whr_[0-9A-Z]{26}$/),
      // 128 bits take 25 of 36 characters.
      slug: expect.stringMatching(/^[a-z0-9]{25}$/),
      eventName: 'order/paid',
      scheme: 'standard-webhooks',
      enabled: true,
      createdAt: at,
      updatedAt: at,
    })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(await listed(here, receiver.id)).toEqual(receiver)
    const other = await create(here)
    expect(other.slug).not.toBe(receiver.slug)
    expect(other.secret).not.toBe(secret)
  })

  test('takes every field', async () => {
    const fields = {
      name: 'Payments',
      app: 'shop',
      targetApp: 'billing',
      slug: unique('slug_'),
      scheme: 'stripe',
    }
    const created = await create(here, { ...fields, secret: 'a secret that Stripe made' })
    expect(created).toMatchObject({ ...fields, secret: 'a secret that Stripe made', enabled: true })
    expect(await listed(here, created.id)).toEqual(withoutSecret(created))
  })

  test('creates a closed one on request, which changes open and close', async () => {
    const receiver = await create(here, { enabled: false })
    expect(receiver).toMatchObject({ enabled: false })
    const statuses = [await posted(receiver, receiver.secret)]
    for (const enabled of [true, false]) {
      await patch(here, receiver.id, { enabled })
      statuses.push(await posted(receiver, receiver.secret))
    }
    expect(statuses).toEqual([404, 202, 404])
  })

  test.each<Scheme>(['github', 'stripe', 'slack', 'hmac-sha256'])('makes a random secret for %s too', async scheme => {
    const { secret } = await create(here, { scheme })
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    expect(await create(here, { scheme })).not.toMatchObject({ secret })
  })

  test.each<[string, object]>([
    ['eventName', { eventName: undefined }],
    ['eventName', { eventName: ' ' }],
    ['eventName', { eventName: 'x'.repeat(257) }],
    ['name', { name: 'x'.repeat(129) }],
    ['name', { name: null }],
    ['app', { app: '\n' }],
    ['targetApp', { targetApp: ' ' }],
    ['scheme', { scheme: 'paypal' }],
    ['enabled', { enabled: 'no' }],
    ['slug', { slug: 'ab' }],
    ['slug', { slug: 'x'.repeat(65) }],
    ['slug', { slug: 'Upper' }],
    ['slug', { slug: 'a/b' }],
    ['secret', { secret: 'not whsec_, so no Standard Webhooks secret' }],
    ['secret', { secret: 'whsec_!!!!!!!!!!!!!!!!!!!!!!!!' }],
    ['secret', { secret: 'whsec_AAAA' }],
    ['secret', { scheme: 'github', secret: 'fifteen charact' }],
    ['secret', { scheme: 'github', secret: 'x'.repeat(257) }],
    ['secret', { scheme: 'github', secret: 'with a \u0000 in the middle' }],
  ])('refuses a bad %s: %j', async (field, fields) => {
    const before = await list(here)
    const answer = await here.post('/webhook-receivers', { eventName: 'x', ...fields })
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(answer.json).toMatchObject({ error: { details: { field } } })
    expect(await list(here)).toEqual(before)
  })

  test('of a slug in use is 409, in another namespace as well', async () => {
    const { slug, id } = await create(here, { slug: unique('taken') })
    for (const api of [here, there]) {
      const answer = await api.post('/webhook-receivers', { eventName: 'x', slug })
      expect(answer).toMatchObject({ status: 409, code: 'slug_taken' })
    }
    expect((await remove(here, id)).status).toBe(204)
    expect(await create(there, { slug })).toMatchObject({ slug })
  })

  test('of one slug many times at once creates one', async () => {
    const slug = unique('raced')
    const answers = await Promise.all(
      [here, there, here, there, here].map(api => api.post('/webhook-receivers', { eventName: 'x', slug })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    const all = [...(await list(here)), ...(await list(there))]
    expect(all.filter(receiver => receiver.slug === slug)).toHaveLength(1)
  })
})

describe('change', () => {
  test('keeps omitted fields, and removes fields that are null', async () => {
    const created = withoutSecret(await create(here, { name: 'n', app: 'a', targetApp: 't' }))
    clock.jump(1000)
    const updatedAt = new Date(clock.now()).toISOString()
    const renamed = await patch(here, created.id, { name: 'new', eventName: 'other/event' })
    expect(renamed.status).toBe(200)
    expect(renamed.json).toEqual({ ...created, name: 'new', eventName: 'other/event', updatedAt })
    const { name: _n, app: _a, targetApp: _t, ...bare } = renamed.json as WebhookReceiver
    const cleared = await patch(here, created.id, { name: null, app: null, targetApp: null })
    expect(cleared.json).toEqual(bare)
    expect(await listed(here, created.id)).toEqual(bare)
  })

  test.each<[string, object]>([
    ['slug', { slug: 'another-slug' }],
    ['scheme', { scheme: 'github' }],
    ['secret', { secret: secretOf(9) }],
    ['eventName', { eventName: null }],
    ['eventName', { eventName: ' ' }],
    ['enabled', { enabled: 'no' }],
    ['enabled', { enabled: null }],
    ['rotateSecret', { rotateSecret: 1 }],
    ['name', { name: '\u0007' }],
    ['body', []],
  ])('refuses %s: %j', async (field, body) => {
    const created = withoutSecret(await create(here))
    const answer = await patch(here, created.id, body)
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(answer.json).toMatchObject({ error: { details: { field } } })
    expect(await listed(here, created.id)).toEqual(created)
  })

  test('many times at once loses no change', async () => {
    const { id } = await create(here)
    const edits = [{ name: 'n' }, { app: 'a' }, { targetApp: 't' }, { eventName: 'e' }, { enabled: false }]
    const answers = await Promise.all(edits.map(edit => patch(here, id, edit)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await listed(here, id)).toMatchObject(Object.assign({}, ...edits))
  })
})

describe('the last accepted post', () => {
  test('is one with a right signature, also a repeat or a handshake, and stays when the receiver changes', async () => {
    const receiver = await create(here, { scheme: 'slack' })
    const post = async (body: string, secret = receiver.secret) =>
      (await postWebhook(engine.api, receiver.slug, { scheme: 'slack', secret, body, at: clock.now() })).status
    const lastAt = async () => (await listed(here, receiver.id))?.lastAcceptedAt
    const now = () => new Date(clock.now()).toISOString()
    expect(await post('{}', 'another secret of somebody')).toBe(401)
    expect(await lastAt()).toBeUndefined()
    for (const body of ['{"event_id":"Ev1"}', '{"event_id":"Ev1"}', '{"type":"url_verification","challenge":"c"}']) {
      clock.jump(1000)
      await post(body)
      expect(await lastAt()).toBe(now())
    }
    const at = now()
    clock.jump(1000)
    expect(await post('{}', 'another secret of somebody')).toBe(401)
    expect((await patch(here, receiver.id, { name: 'Slack' })).json).toMatchObject({
      name: 'Slack',
      lastAcceptedAt: at,
    })
  })
})

describe('rotation', () => {
  test('shows a new secret once; for 24 h both verify, then the new one alone', async () => {
    const receiver = await create(here)
    const answer = await patch(here, receiver.id, { rotateSecret: true })
    const { secret, ...rest } = answer.json as Created
    const oldSecretsUntil = new Date(clock.now() + 24 * HOUR_MS).toISOString()
    expect(rest).toEqual({ ...withoutSecret(receiver), updatedAt: rest.updatedAt, oldSecretsUntil })
    expect(secret).toMatch(/^whsec_/)
    expect(secret).not.toBe(receiver.secret)
    const both = async () => [await posted(receiver, receiver.secret), await posted(receiver, secret)]
    expect(await both()).toEqual([202, 202])
    clock.jump(24 * HOUR_MS - 1)
    expect(await both()).toEqual([202, 202])
    expect(await listed(here, receiver.id)).toMatchObject({ oldSecretsUntil })
    clock.jump(1)
    expect(await both()).toEqual([401, 202])
    expect(await listed(here, receiver.id)).not.toHaveProperty('oldSecretsUntil')
  })

  test('happens, and shows a secret, only on request', async () => {
    const receiver = await create(here)
    for (const body of [{}, { rotateSecret: false }, { name: 'x' }]) {
      expect((await patch(here, receiver.id, body)).json).not.toHaveProperty('secret')
    }
    expect(await posted(receiver, receiver.secret)).toBe(202)
  })

  test('of a given secret generates one of the same kind; after a second rotation all of them are valid', async () => {
    const first = 'the secret that GitHub has'
    const receiver = await create(here, { scheme: 'github', secret: first })
    const rotate = async () => ((await patch(here, receiver.id, { rotateSecret: true })).json as Created).secret
    const [second, third] = [await rotate(), await rotate()]
    expect(second).toMatch(/^[0-9a-f]{64}$/)
    const statuses = [await posted(receiver, first), await posted(receiver, second), await posted(receiver, third)]
    expect(statuses).toEqual([202, 202, 202])
  })

  test('with revokeOldSecrets refuses the old secrets at once', async () => {
    const receiver = await create(here)
    const rotate = async (fields: object) =>
      ((await patch(here, receiver.id, { rotateSecret: true, ...fields })).json as Created).secret
    const second = await rotate({})
    const third = await rotate({ revokeOldSecrets: true })
    const statuses = [receiver.secret, second, third].map(secret => posted(receiver, secret))
    expect(await Promise.all(statuses)).toEqual([401, 401, 202])
    const fourth = await rotate({})
    await patch(here, receiver.id, { revokeOldSecrets: true })
    expect([await posted(receiver, third), await posted(receiver, fourth)]).toEqual([401, 202])
  })
})

describe('delete', () => {
  test('is 204, then 404, and closes the URL', async () => {
    const receiver = await create(here)
    expect(await remove(here, receiver.id)).toMatchObject({ status: 204, text: '' })
    expect(await remove(here, receiver.id)).toMatchObject({ status: 404, code: 'not_found' })
    expect(await patch(here, receiver.id, {})).toMatchObject({ status: 404, code: 'not_found' })
    expect(await listed(here, receiver.id)).toBeUndefined()
    expect(await posted(receiver, receiver.secret)).toBe(404)
  })

  test('many times at once is 204 for one of them', async () => {
    const { id } = await create(here)
    const statuses = (await Promise.all([1, 2, 3].map(() => remove(here, id)))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([204, 404, 404])
  })
})

describe('the secret', () => {
  test('is in no read and no log, and with an encryption key not in the file', async () => {
    const { secret, id, slug } = await create(here)
    const rotated = ((await patch(here, id, { rotateSecret: true })).json as Created).secret
    await postWebhook(engine.api, slug, { scheme: 'standard-webhooks', secret, body: '{}', at: clock.now() })
    const file = ['', '-wal'].map(suffix => readFileSync(engine.storeFile + suffix, 'latin1')).join('')
    const seen = [(await here.get('/webhook-receivers')).text, engine.log.join('\n'), file]
    for (const text of seen) for (const hidden of [secret, rotated]) expect(text.includes(hidden)).toBe(false)
    expect(file).toContain(slug)
    expect(engine.log.join('\n')).not.toContain(slug)
  })

  test('still verifies after restarts while the encryption key is rotated: the old key can go after one restart', async () => {
    const { storeFile } = engine
    await engine.stop()
    const restarted = (encryptionKey: string) =>
      openEngine({ clock, storeFile, env: { ...env, ENGINE_ENCRYPTION_KEY: encryptionKey } })
    const status = async ({ slug, scheme }: Created, secret: string, at: OpenEngine) =>
      (await postWebhook(at.api, slug, { scheme, secret, body: '{}', at: clock.now(), id: unique('m') })).status

    const first = await restarted(env.ENGINE_ENCRYPTION_KEY)
    const receiver = await create(first.api.as(keyOf('secret', 'default')))
    const rotate = async () =>
      ((await patch(first.api.as(keyOf('secret', 'default')), receiver.id, { rotateSecret: true })).json as Created)
        .secret
    const [second, secret] = [await rotate(), await rotate()]
    expect(await status(receiver, secret, first)).toBe(202)
    const before = await list(first.api.as(keyOf('secret', 'default')))
    expect(before.at(-1)).toHaveProperty('lastAcceptedAt')
    await first.stop()

    await expect(restarted(NEW_KEY)).rejects.toThrow('ENGINE_ENCRYPTION_KEY')
    await (await restarted(`${NEW_KEY},${env.ENGINE_ENCRYPTION_KEY}`)).stop()
    const last = await restarted(NEW_KEY)
    expect(await list(last.api.as(keyOf('secret', 'default')))).toEqual(before)
    expect(await status(receiver, secret, last)).toBe(202)
    expect(await status(receiver, second, last)).toBe(202)
    expect(await status(receiver, receiver.secret, last)).toBe(202)
  })

  test('once it is sealed stops the start in another row, or in the clear', async () => {
    const storeFile = join(mkdtempSync(join(tmpdir(), 'perdure-vault-')), 'engine.db')
    const open = () => openEngine({ clock, storeFile, env })
    const first = await open()
    const [one, two] = [
      await create(first.api.as(keyOf('secret', 'default'))),
      await create(first.api.as(keyOf('secret', 'other'))),
    ]
    await first.stop()

    const database = await openDatabase(storeFile)
    const secrets = database.prepare('SELECT id, secret FROM webhook_receivers').all() as {
      id: string
      secret: string
    }[]
    const store = (id: string, secret: string) =>
      database.prepare('UPDATE webhook_receivers SET secret = ? WHERE id = ?').run(secret, id)
    const sealedOf = (id: string) => secrets.find(row => row.id === id)?.secret ?? ''
    store(one.id, sealedOf(two.id))
    await expect(open()).rejects.toThrow(
      `${one.id} (namespace default) was sealed under another ENGINE_ENCRYPTION_KEY, or for another row`,
    )
    store(one.id, `plain:${one.secret}`)
    await expect(open()).rejects.toThrow(`the secret of receiver ${one.id} (namespace default) is not sealed`)

    // Also when no sealed secret is left.
    store(two.id, `plain:${two.secret}`)
    await expect(open()).rejects.toThrow('is not sealed')

    // A start without a key ends that. The next start with a key seals the stored secrets.
    await (await openEngine({ clock, storeFile, env: { ...env, ENGINE_ENCRYPTION_KEY: '' } })).stop()
    await (await open()).stop()
    for (const { secret } of database.prepare('SELECT secret FROM webhook_receivers').all() as { secret: string }[])
      expect(secret).toMatch(/^sealed:v2:/)
  })
})
