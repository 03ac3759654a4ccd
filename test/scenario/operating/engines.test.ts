// `GET /engines` and `perdure engines`: the engines that use the store (docs/postgresql.md#engines-of-a-store). Several on one
// store are in test/scenario/cluster/engines.test.ts.

import { hostname } from 'node:os'
import type { Engine } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { flow, gate, JumpClock, openEngine, perdure, run, unique, until } from '../../kit/index.ts'

const DAY = 86_400_000

test('an engine that is alone lists itself: its process, its work, and how late the store is', async () => {
  const clock = new JumpClock()
  const startedAt = new Date(clock.now()).toISOString()
  const engine = await openEngine({ clock, bounds: { passesMax: 20, deliveriesMax: 30, timersMax: 40 } })
  const { api } = engine
  const engines = async () => (await api.get('/engines')).json as Engine[]
  const [idle] = await engines()
  expect(await engines()).toEqual([
    {
      id: expect.stringMatching(/^engine_[0-9a-f-]{36}$/),
      self: true,
      version: ((await api.get('/whoami')).json as { version: string }).version,
      ...{ host: hostname(), pid: process.pid },
      ...{ startedAt, seenAt: startedAt },
      draining: false,
      inFlight: 0,
      lanes: [
        { lane: 'runs', inFlight: 0, max: 20, lagMs: 0 },
        { lane: 'deliveries', inFlight: 0, max: 30, lagMs: 0 },
        { lane: 'timers', inFlight: 0, max: 40, lagMs: 0 },
      ],
      sockets: 0,
      streams: 0,
      checks: { store: 'ok' },
      writes: {
        commits: expect.any(Number),
        requests: expect.any(Number),
        batches: expect.any(Number),
        pending: 0,
      },
      ...{ queue: 'memory', limiter: 'memory', limiterEntries: 0 },
      settings: expect.objectContaining({ ENGINE_HOST: '127.0.0.1', ENGINE_DRAIN_TIMEOUT: '1s' }),
      removedUpTo: {},
    },
  ])

  const [name, held] = [unique('held'), gate()]
  const runner = await engine.runner({ workflows: { [name]: flow([run('slow', () => held.opened)]) } })
  const { runId } = await api.send({ name })
  await until(() => runner.record.times(runId, 'slow') === 1)
  clock.jump(90_000)
  const [busy, ...others] = await engines()
  expect(others).toEqual([])
  expect(busy).toMatchObject({ id: idle?.id, inFlight: 1, seenAt: new Date(clock.now()).toISOString(), startedAt })
  expect(busy?.lanes[0]).toMatchObject({ lane: 'runs', inFlight: 1 })
  expect(busy?.writes?.commits).toBeGreaterThan(idle?.writes?.commits as number)
  held.open()
  await api.succeeded(runId)
  await until(async () => (await engines())[0]?.inFlight === 0)
})

test('its settings are those that are not secret, and it shows how far retention has removed rows', async () => {
  const secret = 'a-secret-that-nobody-may-see-1234567890'
  const clock = new JumpClock()
  const engine = await openEngine({ clock, env: { ENGINE_RETENTION: '2d', ENGINE_SIGNING_KEY: secret } })
  const { api } = engine
  const own = async () => ((await api.get('/engines')).json as Engine[])[0]
  const first = await own()
  expect(first?.settings).toMatchObject({ ENGINE_RETENTION: '2d', ENGINE_WEBHOOK_SCHEDULE: '5s,5m,30m,2h,5h,10h,10h' })
  expect(JSON.stringify(first)).not.toContain(secret)
  expect(first?.removedUpTo).toEqual({})

  const name = unique('old')
  await engine.runner({ workflows: { [name]: flow([]) } })
  await api.succeeded((await api.send({ name })).runId)
  clock.jump(2 * DAY)
  const { removedUpTo } = await until(async () => {
    clock.jump(60_000)
    const engine = await own()
    return engine?.removedUpTo?.events !== undefined && engine
  })
  const upTo = Date.parse(removedUpTo?.runs as string)
  expect(upTo).toBeGreaterThan(Date.parse(first?.startedAt as string))
  expect(upTo).toBeLessThanOrEqual(clock.now() - 2 * DAY)
  expect(removedUpTo).not.toHaveProperty('deliveries')
})

test('`perdure engines` shows it in a table', async () => {
  const { url } = await openEngine()
  const { code, stdout, stderr } = await perdure(['engines', '--url', url])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^ENGINE +VERSION +STATE/)
  expect(stdout).toMatch(/\nengine_\S+ +\S+ +answers/)
  const json = await perdure(['engines', '--url', url, '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ self: true, pid: process.pid })
})
