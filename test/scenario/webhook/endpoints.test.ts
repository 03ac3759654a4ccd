// Webhook endpoints: creating, reading, changing and deleting them, and what each of them receives
// (docs/webhooks.md#what-endpoints-receive).

import { verifyWebhook } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  acts,
  flow,
  openDestination,
  PlainRunner,
  run,
  scenario,
  skipWait,
  sleep,
  unique,
  until,
} from '../../kit/index.ts'
import type { WorkflowDefinition } from '../../kit/runner/plain-runner.ts'
import type { RawRequest } from '../../kit/servers/raw-server.ts'
import { API_KEYS, SECRET_KEY, Webhooks } from '../../kit/webhook/webhooks.ts'

const env = { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' }
const { clock, engine } = await scenario({ env })
const webhooks = new Webhooks(engine.api.as(SECRET_KEY))
const { api } = webhooks
const DAY_MS = 24 * 3_600_000
const URL = 'https://hooks.example.com/perdure'
const valid = { url: URL, eventKinds: ['run.succeeded'] }

const create = (fields: object) => api.post('/webhook-endpoints', fields)
const patch = (id: string, fields: object, as = api) =>
  as.request('PATCH', `/webhook-endpoints/${id}`, {
    body: JSON.stringify(fields),
    headers: { 'content-type': 'application/json' },
  })
const listed = async (id: string, as = api) =>
  ((await as.get('/webhook-endpoints')).json as { id: string }[]).find(endpoint => endpoint.id === id)

describe('POST /webhook-endpoints', () => {
  test('answers the endpoint with a generated secret, which no read shows again', async () => {
    const fields = { name: 'Orders', app: unique('app'), url: URL, eventKinds: ['run.failed', 'step.failed'] }
    const { status, json } = await create(fields)
    expect(status).toBe(201)
    const { id, secret, createdAt, updatedAt, ...rest } = json as Record<string, string>
    expect(id).toMatch(/^whe_[0-9A-HJKMNP-TV-Z]{26}$/)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(rest).toEqual({ ...fields, scheme: 'standard-webhooks', enabled: true })
    expect([createdAt, updatedAt]).toEqual(Array(2).fill(new Date(clock.now()).toISOString()))
    const answer = await api.get('/webhook-endpoints')
    expect(answer.text).toContain(id)
    expect(answer.text).not.toContain('secret')
  })

  test.each([
    `whsec_${Buffer.from('k'.repeat(32)).toString('base64')}`,
    `whsec_${Buffer.from('k'.repeat(16)).toString('base64')}`,
    'a text of our own',
  ])('adopts a known secret, of the one existing scheme: %s', async secret => {
    const fields = { secret, scheme: 'standard-webhooks' }
    expect(await create({ ...valid, ...fields })).toMatchObject({ status: 201, json: fields })
  })

  test('creates a disabled one on request', async () => {
    const destination = await openDestination(acts.status(200))
    const app = unique('app')
    const made = await webhooks.endpoint({ app, url: destination.url, enabled: false })
    expect(await listed(made.id)).toMatchObject({ enabled: false })
    await webhooks.runs(app)
    await webhooks.edit(made.id, { enabled: true })
    const [runId] = await webhooks.runs(app)
    await until(() => destination.requests.length === 1, { what: 'the delivery' })
    const sent = (await webhooks.list(`?app=${app}`)).filter(({ endpointId }) => endpointId === made.id)
    expect(sent.map(({ sourceRunId }) => sourceRunId)).toEqual([runId])
  })

  test.each<[string, object, string]>([
    ['no url', { eventKinds: ['run.failed'] }, 'url'],
    ['a url of another scheme', { ...valid, url: 'ftp://example.com' }, 'url'],
    ['a url that is none', { ...valid, url: 'example.com/hook' }, 'url'],
    ['a url with credentials', { ...valid, url: 'https://me:pw@example.com' }, 'url'],
    ['a url too long', { ...valid, url: `https://example.com/${'x'.repeat(2048)}` }, 'url'],
    ['no kinds', { url: URL }, 'eventKinds'],
    ['an empty list of kinds', { ...valid, eventKinds: [] }, 'eventKinds'],
    ['an unknown kind', { ...valid, eventKinds: ['run.paused'] }, 'eventKinds'],
    ['the kind of custom sends', { ...valid, eventKinds: ['custom'] }, 'eventKinds'],
    ['a blank name', { ...valid, name: ' ' }, 'name'],
    ['a control character', { ...valid, app: 'a\u0000b' }, 'app'],
    ['a secret too short', { ...valid, secret: 'short' }, 'secret'],
    ['a secret that is not what it claims', { ...valid, secret: 'whsec_not base64!' }, 'secret'],
    ['a secret of few bytes', { ...valid, secret: 'whsec_AAAA' }, 'secret'],
    ['a secret of few characters', { ...valid, secret: 'fifteen charact' }, 'secret'],
    ['a text that is base64 of few bytes', { ...valid, secret: '0123456789abcdef' }, 'secret'],
    ['a secret with a control character', { ...valid, secret: 'with a \u0000 in the middle' }, 'secret'],
    ['another scheme', { ...valid, scheme: 'github' }, 'scheme'],
    ['a switch that is neither', { ...valid, enabled: 'no' }, 'enabled'],
    ['a body that is a list', [], 'body'],
  ])('refuses %s, naming the field', async (_, fields, field) => {
    const { status, code, text } = await create(fields)
    expect([status, code]).toEqual([400, 'invalid_request'])
    expect(text).toContain(field)
  })
})

describe('PATCH /webhook-endpoints/{id}', () => {
  test('changes the given fields and no others', async () => {
    const { id } = await webhooks.endpoint({ name: 'One', app: 'shop', url: URL })
    clock.jump(1000)
    const edited = await webhooks.edit(id, { url: `${URL}/two`, enabled: false })
    expect(edited).toMatchObject({ id, name: 'One', app: 'shop', url: `${URL}/two`, enabled: false })
    expect(edited.updatedAt).toBe(new Date(clock.now()).toISOString())
    expect(edited).not.toHaveProperty('secret')
    expect(await listed(id)).toEqual(edited)
  })

  test('null removes an optional field', async () => {
    const { id } = await webhooks.endpoint({ name: 'One', app: 'shop', url: URL })
    const edited = await webhooks.edit(id, { name: null, app: null })
    expect(edited).not.toHaveProperty('name')
    expect(edited).not.toHaveProperty('app')
  })

  test('rotateSecret shows a new secret, once', async () => {
    const { id, secret } = await webhooks.endpoint({ url: URL })
    const rotated = await webhooks.edit(id, { rotateSecret: true })
    expect(rotated.secret).toMatch(/^whsec_/)
    expect(rotated.secret).not.toBe(secret)
    expect(rotated.oldSecretsUntil).toBe(new Date(clock.now() + DAY_MS).toISOString())
    expect(await webhooks.edit(id, { rotateSecret: false })).not.toHaveProperty('secret')
  })

  test('many rotations keep old secrets valid; revokeOldSecrets revokes them at once', async () => {
    const destination = await openDestination(acts.status(200))
    const { id, secret: first } = await webhooks.endpoint({ app: unique('app'), url: destination.url })
    const rotate = async (fields = {}) => (await webhooks.edit(id, { rotateSecret: true, ...fields })).secret as string
    const sent = async () => {
      const { app } = (await listed(id)) as unknown as { app: string }
      const before = destination.requests.length
      await webhooks.runs(app)
      await until(() => destination.requests.length === before + 1, { what: 'a delivery' })
      const { headers, body } = destination.requests.at(-1) as RawRequest
      const verifies = (secret: string) => verifyWebhook({ secret, headers, body, nowMs: clock.now() }) === 'verified'
      return { verifies, signatures: headers['webhook-signature']?.split(' ').length }
    }
    const second = await rotate()
    clock.jump(1000)
    const third = await rotate()
    const all = await sent()
    expect([first, second, third].map(all.verifies)).toEqual([true, true, true])
    expect(await listed(id)).toMatchObject({ oldSecretsUntil: new Date(clock.now() + DAY_MS).toISOString() })
    clock.jump(DAY_MS - 1000)
    const later = await sent()
    expect([first, second, third].map(later.verifies)).toEqual([false, true, true])
    const fourth = await rotate({ revokeOldSecrets: true })
    const after = await sent()
    expect([first, second, third, fourth].map(after.verifies)).toEqual([false, false, false, true])
    expect(after.signatures).toBe(1)
    expect(await listed(id)).not.toHaveProperty('oldSecretsUntil')

    // At most this many secrets overlap. One more is refused, because it would revoke a secret without a request to
    // do so.
    for (let i = 0; i < 4; i++) await rotate()
    expect(await patch(id, { rotateSecret: true })).toMatchObject({ status: 409, code: 'conflict' })
    expect((await sent()).signatures).toBe(5)
    expect(await webhooks.edit(id, { revokeOldSecrets: true })).not.toHaveProperty('secret')
    expect((await sent()).signatures).toBe(1)
    expect((await patch(id, { rotateSecret: true })).status).toBe(200)
  })

  test('many at once lose none of the changes', async () => {
    const { id } = await webhooks.endpoint({ url: URL })
    const edits = [{ name: 'n' }, { app: 'a' }, { url: `${URL}/e` }, { enabled: false }, { eventKinds: ['run.failed'] }]
    await Promise.all(edits.map(edit => webhooks.edit(id, edit)))
    expect(await listed(id)).toMatchObject(Object.assign({}, ...edits))
  })

  test('refuses what a create refuses', async () => {
    const { id } = await webhooks.endpoint({ url: URL })
    for (const fields of [
      { url: 'nowhere' },
      { url: null },
      { eventKinds: [] },
      { enabled: 'yes' },
      { name: '' },
      { scheme: 'github' },
    ])
      expect((await patch(id, fields)).status).toBe(400)
    const brought = await patch(id, { secret: `whsec_${Buffer.alloc(32).toString('base64')}` })
    expect(brought).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(brought.text).toContain('rotateSecret')
    expect(await listed(id)).toMatchObject({ url: URL, enabled: true })
  })
})

test('DELETE answers 204, and the endpoint is gone', async () => {
  const { id } = await webhooks.endpoint({ url: URL })
  expect((await api.request('DELETE', `/webhook-endpoints/${id}`)).status).toBe(204)
  expect(await listed(id)).toBeUndefined()
  expect((await api.request('DELETE', `/webhook-endpoints/${id}`)).status).toBe(404)
})

describe('what endpoints receive', () => {
  /** Resolves with the deliveries to these endpoints, once there are that many. */
  const deliveries = (endpoints: { id: string }[], count: number) =>
    until(
      async () => {
        const ids = endpoints.map(({ id }) => id)
        const found = (await webhooks.list('?limit=1000')).filter(({ endpointId }) => ids.includes(endpointId ?? ''))
        return found.length >= count && found
      },
      { what: `${count} deliveries` },
    )
  const kindsOf = (found: { eventKind: string }[]) => found.map(({ eventKind }) => eventKind).sort()
  /** A runner of the app with one workflow. */
  const serve = async (app: string, name: string, definition: WorkflowDefinition) =>
    (await new PlainRunner({ app, workflows: { [name]: definition } }).listen()).register(api)
  const ALL = ['run.succeeded', 'run.failed', 'run.cancelled', 'step.failed']

  test('a run that fails by its step: the step, then the run, each with its payload', async () => {
    const destination = await openDestination(acts.status(200))
    const app = unique('app')
    const endpoint = await webhooks.endpoint({ app, url: destination.url, eventKinds: ALL })
    const name = unique('work')
    const registration = { retry: { maxAttempts: 1 } }
    const decline = () => {
      throw new Error('card declined')
    }
    await serve(app, name, { handler: flow([run('charge', decline)]), registration })
    const { runId } = await api.send({ name, app })
    await api.failed(runId)
    const found = await deliveries([endpoint], 2)
    expect(kindsOf(found)).toEqual(['run.failed', 'step.failed'])
    const payloads = found.map(({ payload }) => payload)
    expect(payloads).toContainEqual({
      type: 'run.failed',
      timestamp: expect.any(String),
      data: {
        run: expect.objectContaining({
          id: runId,
          status: 'failed',
          error: expect.objectContaining({ code: 'step_failed', stepName: 'charge' }),
        }),
      },
    })
    expect(payloads).toContainEqual({
      type: 'step.failed',
      timestamp: expect.any(String),
      data: {
        run: expect.objectContaining({ id: runId }),
        step: {
          id: expect.any(String),
          name: 'charge',
          attempt: 1,
          error: expect.objectContaining({ message: 'card declined' }),
        },
      },
    })
  })

  test('a cancelled run', async () => {
    const app = unique('app')
    const endpoint = await webhooks.endpoint({ app, url: URL, eventKinds: ALL })
    const name = unique('work')
    await serve(app, name, { handler: flow([sleep('nap', 60_000)]) })
    const { runId } = await api.send({ name, app })
    await api.reaches(runId, 'waiting')
    await api.post(`/runs/${runId}/cancel`)
    expect(kindsOf(await deliveries([endpoint], 1))).toEqual(['run.cancelled'])
  })

  test('only endpoints of the kind, of the app or of all apps, and enabled', async () => {
    const destination = await openDestination(acts.status(200))
    const app = unique('app')
    const all = await webhooks.endpoint({ url: destination.url })
    const mine = await webhooks.endpoint({ app, url: destination.url })
    const others = await webhooks.endpoint({ app: unique('elsewhere'), url: destination.url })
    const failures = await webhooks.endpoint({ app, url: destination.url, eventKinds: ['run.failed'] })
    const off = await webhooks.endpoint({ app, url: destination.url })
    await webhooks.edit(off.id, { enabled: false })
    const [runId] = await webhooks.runs(app)
    // They are written in the commit that ended the run: when these two exist, all of them do.
    const found = await deliveries([all, mine, others, failures, off], 2)
    expect(found.map(({ endpointId }) => endpointId).sort()).toEqual([all.id, mine.id].sort())
    expect(found.map(({ sourceRunId }) => sourceRunId)).toEqual([runId, runId])
  })

  test('a step that is retried, or succeeds, is not reported', async () => {
    const app = unique('app')
    const endpoint = await webhooks.endpoint({ app, url: URL, eventKinds: ALL })
    const name = unique('work')
    let tries = 0
    const flaky = run('flaky', () => {
      tries += 1
      if (tries === 1) throw new Error('not yet')
    })
    await serve(app, name, { handler: flow([flaky, run('fine')]) })
    const { runId } = await api.send({ name, app })
    await skipWait(api, clock, runId, 'retry')
    await api.succeeded(runId)
    expect(tries).toBe(2)
    expect(kindsOf(await deliveries([endpoint], 1))).toEqual(['run.succeeded'])
  })
})
