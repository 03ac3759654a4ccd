// Bounds on the registrations of one namespace (docs/limits.md#bounds).

import { expect, test } from 'vitest'
import { type Answer, Api, openEngine, unique } from '../../kit/index.ts'
import { dial } from '../../kit/runner/connect-client.ts'

const LIMITS = {
  ENGINE_APP_LIMIT: '3',
  ENGINE_WORKFLOW_LIMIT: '6',
  ENGINE_TRIGGER_LIMIT: '10',
  ENGINE_RUNNER_LIMIT: '4',
  ENGINE_REGISTRATION_BYTES: '4000',
  ENGINE_CATALOG_BYTES: '8000',
}
const keys = Array.from({ length: 6 }, (_, i) => ({
  label: 'ops',
  namespace: unique('space'),
  kind: 'secret',
  key: `key-${i}-0123456789abcdef`,
}))
const env = { ...LIMITS, ENGINE_API_KEYS: JSON.stringify(keys) }
/** An engine with small bounds. */
const { url } = await openEngine({ env })

/** The next namespace, which nothing has registered in. */
function open() {
  const { key } = keys.pop() as (typeof keys)[number]
  return { key, api: new Api(() => url, key) }
}

const names = (count: number, prefix = 'w') => Array.from({ length: count }, (_, i) => ({ name: `${prefix}${i}` }))
const register = (api: Api, app: string, fields: Record<string, unknown> = {}): Promise<Answer> =>
  api.post('/register', { app, url: 'http://127.0.0.1:9/', runner: 'r', workflows: [], ...fields })

function expectRefusal(answer: Answer, status: number, setting: keyof typeof LIMITS): void {
  expect([answer.status, answer.code]).toEqual([status, status === 429 ? 'rate_limited' : 'invalid_request'])
  expect(answer.json).toMatchObject({ error: { details: { setting, limit: Number(LIMITS[setting]) } } })
  expect((answer.json as { error: { message: string } }).error.message).toContain(setting)
  expect(answer.headers.get('retry-after')).toBe(status === 429 ? '1' : null)
}

test('apps are bounded, in each namespace for itself', async () => {
  const [{ api }, { api: other }] = [open(), open()]
  for (const app of ['a', 'b', 'c']) expect((await register(api, app)).status).toBe(200)
  expectRefusal(await register(api, 'd'), 400, 'ENGINE_APP_LIMIT')
  expect((await api.get('/apps')).json).toHaveLength(3)
  expect((await register(api, 'a')).status).toBe(200)
  expect((await register(other, 'd')).status).toBe(200)
})

test('workflows are bounded over all apps, and one that is dropped makes room', async () => {
  const { api } = open()
  expect((await register(api, 'a', { workflows: names(4) })).status).toBe(200)
  expect((await register(api, 'b', { workflows: names(2) })).status).toBe(200)
  expectRefusal(await register(api, 'b', { workflows: names(3) }), 400, 'ENGINE_WORKFLOW_LIMIT')
  expect((await api.get('/workflows')).json).toHaveLength(6)
  // The same number with other names, then fewer and more.
  expect((await register(api, 'a', { workflows: names(4, 'x') })).status).toBe(200)
  expect((await register(api, 'a', { workflows: names(3, 'x') })).status).toBe(200)
  expect((await register(api, 'b', { workflows: names(3) })).status).toBe(200)
})

test('triggers are bounded', async () => {
  const { api } = open()
  const triggered = (count: number) => [{ name: 'w', triggers: names(count).map(({ name }) => ({ event: name })) }]
  expect((await register(api, 'a', { workflows: triggered(8) })).status).toBe(200)
  expectRefusal(await register(api, 'b', { workflows: triggered(3) }), 400, 'ENGINE_TRIGGER_LIMIT')
  expect((await register(api, 'b', { workflows: triggered(2) })).status).toBe(200)
})

test('runners are bounded, over HTTP and Connect together; those that are known renew', async () => {
  const { api, key } = open()
  const runners = ['r0', 'r1', 'r2']
  for (const runner of runners) expect((await register(api, 'a', { runner })).status).toBe(200)
  const client = await dial(url, { key })
  expect((await client.register({ app: 'a' })).type).toBe('runner.registered')
  expectRefusal(await register(api, 'a', { runner: 'r4' }), 429, 'ENGINE_RUNNER_LIMIT')
  const late = await dial(url, { key })
  expect(await late.register({ app: 'a' })).toMatchObject({ type: 'error', payload: { code: 'rate_limited' } })
  for (const runner of runners) expect((await register(api, 'a', { runner })).status).toBe(200)
  // A Connect runner without an id disappears with its socket.
  client.ws.close()
  await expect.poll(async () => (await register(api, 'a', { runner: 'r4' })).status).toBe(200)
})

test('a registration and all of a namespace have bounded bytes', async () => {
  const { api } = open()
  /** A workflow with about 270 bytes for each event that cancels it. */
  const large = (events: number) => [{ name: 'w', cancelOn: names(events, 'x'.repeat(250)).map(toEvent) }]
  const toEvent = ({ name }: { name: string }) => ({ event: name })
  expectRefusal(await register(api, 'a', { workflows: large(16) }), 400, 'ENGINE_REGISTRATION_BYTES')
  for (const app of ['a', 'b']) expect((await register(api, app, { workflows: large(12) })).status).toBe(200)
  expectRefusal(await register(api, 'c', { workflows: large(6) }), 400, 'ENGINE_CATALOG_BYTES')
  expect((await register(api, 'b', { workflows: large(12) })).status).toBe(200)
})

test('an engine with lower bounds lets every runner renew what it has', async () => {
  const { storeFile, api, stop } = await openEngine({ onDisk: true })
  for (let i = 0; i < 6; i++) await register(api, `a${i}`, { runner: `r${i}`, workflows: names(2) })
  await stop()
  const lower = await openEngine({ env: LIMITS, storeFile })
  for (let i = 0; i < 6; i++)
    expect((await register(lower.api, `a${i}`, { runner: `r${i}`, workflows: names(2) })).status).toBe(200)
  expectRefusal(await register(lower.api, 'a0', { runner: 'r0', workflows: names(3) }), 400, 'ENGINE_WORKFLOW_LIMIT')
})
