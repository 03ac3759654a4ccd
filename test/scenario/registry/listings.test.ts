// The lists of apps, runners and workflows (docs/http-api/apps-runners-workflows.md#apps-runners-workflows).

import { describe, expect, test } from 'vitest'
import { returned, scenario, unique } from '../../kit/index.ts'

const key = 'the-key-that-nobody-may-ever-read'
const { api, clock, engine } = await scenario({
  env: { ENGINE_SIGNING_KEY: key, ENGINE_RUNNER_STALE_AFTER: '40s' },
})

const list = async (path: string) => (await api.get(path)).json as Record<string, unknown>[]
const register = (body: Record<string, unknown>) =>
  api.post('/register', { url: 'http://127.0.0.1:9/', workflows: [], ...body })

describe('GET /apps', () => {
  test('apps appear through registration, with the time they were first seen', async () => {
    const firstSeen = new Date(clock.now()).toISOString()
    await register({ app: 'zebra' })
    await register({ app: 'Ant' })
    await register({ app: 'bee' })
    clock.jump(5000)
    await register({ app: 'zebra' })
    const apps = await list('/apps')
    expect(apps).toEqual(['Ant', 'bee', 'zebra'].map(name => ({ name, createdAt: firstSeen })))
  })
})

describe('GET /runners', () => {
  test('every reported field is shown, and unreported ones are absent', async () => {
    const app = unique('app')
    const fields = {
      framework: 'hono',
      runtime: 'node',
      sdkName: '@perdure/sdk',
      version: '1.2.3',
      language: 'python',
      region: 'eu-1',
      keyFingerprint: '0123456789abcdef',
    }
    await register({ app, runner: 'full', ...fields })
    await register({ app, runner: 'bare' })
    const lastSeenAt = new Date(clock.now()).toISOString()
    const runners = await list(`/runners?app=${app}`)
    const load = { workflows: expect.any(Array), inFlight: 0, passesPerMin: 0, failures: 0 }
    const plain = { app, url: 'http://127.0.0.1:9/', lastSeenAt, live: true, ...load }
    expect(runners.find(({ runnerId }) => runnerId === 'full')).toEqual({
      runnerId: 'full',
      ...plain,
      ...fields,
      keyMatches: false,
    })
    expect(runners.find(({ runnerId }) => runnerId === 'bare')).toEqual({ runnerId: 'bare', ...plain })
  })

  test('a runner past the stale TTL is listed with live false, and a heartbeat brings it back', async () => {
    const app = unique('app')
    const status = async () => (await list(`/runners?app=${app}`))[0]
    expect((await register({ app })).json).toMatchObject({ staleAfterMs: 40_000 })
    const seen = new Date(clock.now()).toISOString()
    clock.jump(39_000)
    expect(await status()).toMatchObject({ live: true, lastSeenAt: seen })
    clock.jump(2000)
    expect(await status()).toMatchObject({ live: false, lastSeenAt: seen })
    await register({ app })
    expect(await status()).toMatchObject({ live: true, lastSeenAt: new Date(clock.now()).toISOString() })
  })
})

describe('GET /workflows', () => {
  test('a definition carries its triggers, its whole retry policy and its time', async () => {
    const app = unique('app')
    const retry = { maxAttempts: 3, initialMs: 50 }
    await register({
      app,
      workflows: [{ name: 'explicit', triggers: [{ event: 'order.*' }], retry, onFailure: true }],
    })
    expect(await list(`/workflows?app=${app}`)).toEqual([
      {
        name: 'explicit',
        app,
        retry: { maxAttempts: 3, initialMs: 50, factor: 2, maxMs: 300_000, jitter: 0.2 },
        triggers: [{ event: 'order.*' }],
        scheduled: false,
        schedules: [],
        onFailure: true,
        updatedAt: new Date(clock.now()).toISOString(),
      },
    ])
  })

  test('omitted triggers are an implicit event trigger on the name; the retry default is 5 attempts from 1 s', async () => {
    const app = unique('app')
    await register({ app, workflows: [{ name: 'implicit' }] })
    expect((await list(`/workflows?app=${app}`))[0]).toMatchObject({
      triggers: [{ event: 'implicit' }],
      retry: { maxAttempts: 5, initialMs: 1000, factor: 2, maxMs: 300_000, jitter: 0.2 },
      onFailure: false,
    })
  })
})

test('responses never include a signing key', async () => {
  await engine.runner({ workflows: { [unique('w')]: () => returned() } })
  for (const path of ['/apps', '/runners', '/workflows', '/readyz']) {
    expect((await api.get(path)).text).not.toContain(key)
  }
})
