// `GET /limits`: the limits that hold runs back, and the runs that hold their slots (docs/flow-control.md#why-does-it-wait).

import { expect, test } from 'vitest'
import { gate, type Handler, returned, scenario, unique, until, waitsFor, waitsForStart } from '../../kit/index.ts'

const { api, clock, workflow } = await scenario()

const limitsOf = async (query: string) => (await api.get(`/limits?${query}`)).json as Record<string, unknown>[]

/** A workflow whose runs stay in their only pass until the test ends. */
async function openHeld(registration: Record<string, unknown>) {
  const started = new Set<string>()
  const handler: Handler = async ({ ctx }) => {
    started.add(ctx.runId)
    await gate().opened
    return returned(null)
  }
  const { name } = await workflow(handler, { registration })
  const send = async (data: Record<string, unknown> = {}) => {
    clock.jump(1)
    return (await api.send({ name, data })).runId as string
  }
  const start = async (data: Record<string, unknown> = {}) => {
    const runId = await send(data)
    await until(() => started.has(runId))
    return runId
  }
  return { name, send, start }
}

test('a concurrency limit names its scope, key, holders and how many wait since when', async () => {
  const { name, send, start } = await openHeld({ concurrency: { limit: 2, key: 'event.data.user' } })
  const holders = [await start({ user: 'ada' }), await start({ user: 'ada' })]
  const waiting = [await send({ user: 'ada' }), await send({ user: 'ada' }), await send({ user: 'ada' })]
  for (const runId of waiting) await waitsFor(api, runId, 'concurrency')
  const alone = await start({ user: 'eve' })
  const { app } = await api.run(alone)
  const oldestAt = (await api.run(waiting[0] as string)).createdAt
  const common = { kind: 'concurrency', scope: 'workflow', app, workflow: name, limit: 2 }
  const holder = (runId: string) => ({ runId, workflow: name, app, startedAt: expect.any(String) })
  expect(await limitsOf(`workflow=${name}`)).toEqual([
    { ...common, key: 'ada', held: 2, waiting: 3, oldestAt, releasedPerMin: 0, holders: holders.map(holder) },
    { ...common, key: 'eve', held: 1, waiting: 0, releasedPerMin: 0, holders: [holder(alone)] },
  ])
  expect(await limitsOf(`workflow=${name}&limit=1`)).toHaveLength(1)
  expect(await limitsOf(`workflow=${name}&app=elsewhere`)).toEqual([])
})

test.each([
  ['app', (app: string) => ({ app })],
  ['namespace', () => ({})],
])('a limit of the %s names no workflow', async (scope, names) => {
  const { name, start } = await openHeld({ concurrency: { limit: 3, scope, key: `'${unique(scope)}'` } })
  const { app } = await api.run(await start())
  const [limit] = await limitsOf(`workflow=${name}`)
  expect(limit).toMatchObject({ kind: 'concurrency', scope, ...names(app), held: 1, limit: 3 })
  expect([limit?.workflow, scope === 'namespace' && limit?.app]).toEqual([
    undefined,
    scope === 'namespace' ? undefined : false,
  ])
})

test('a throttle tells how many are in line, and when the next may start', async () => {
  const { name, send, start } = await openHeld({ throttle: { limit: 1, period: '1h' } })
  const { app, startedAt } = await api.run(await start())
  const first = await send()
  await waitsForStart(api, first)
  await waitsForStart(api, await send())
  const [limit, ...others] = await limitsOf(`workflow=${name}`)
  const oldestAt = (await api.run(first)).createdAt
  const common = { kind: 'throttle', scope: 'workflow', app, workflow: name, limit: 1, periodMs: 3_600_000 }
  expect(limit).toEqual({ ...common, inLine: 2, oldestAt, nextStartAt: expect.any(String) })
  expect(Date.parse(String(limit?.nextStartAt))).toBeGreaterThanOrEqual(Date.parse(String(startedAt)))
  expect(others).toEqual([])
})

test('a limit tells how many of its runs end in a minute', async () => {
  let passes = 0
  const handler: Handler = async () => {
    passes++
    if (passes > 5) await gate().opened
    return returned(null)
  }
  const { name } = await workflow(handler, { registration: { concurrency: { limit: 1, key: 'event.data.user' } } })
  const send = async () => (await api.send({ name, data: { user: 'ada' } })).runId as string
  for (let i = 0; i < 5; i++) await api.succeeded(await send())
  await send()
  await until(() => passes === 6)
  expect(await limitsOf(`workflow=${name}&kind=concurrency`)).toMatchObject([{ key: 'ada', releasedPerMin: 0.5 }])
})

test('live singletons tell which run has which key, and are listed alone', async () => {
  const { name, start } = await openHeld({ singleton: { mode: 'skip', key: 'event.data.user' } })
  const [ada, eve] = [await start({ user: 'ada' }), await start({ user: 'eve' })]
  await start({})
  const { app } = await api.run(ada)
  const common = { kind: 'singleton', scope: 'workflow', app, workflow: name }
  const times = { createdAt: expect.any(String), startedAt: expect.any(String) }
  const live = [
    { ...common, key: 'ada', runId: ada, ...times },
    { ...common, key: 'eve', runId: eve, ...times },
  ]
  expect(await limitsOf(`workflow=${name}&kind=singleton`)).toEqual(live)
  expect(await limitsOf(`app=${app}&kind=singleton&limit=1`)).toEqual(live.slice(0, 1))
  expect(await limitsOf(`workflow=${name}`)).toEqual([])
  await api.post(`/runs/${ada}/cancel`)
  expect(await limitsOf(`workflow=${name}&kind=singleton`)).toEqual(live.slice(1))
})

test.each(['kind=rate', 'app=', 'limit=x', 'scope=app', `workflow=${'x'.repeat(300)}`, `key=${'x'.repeat(257)}`])(
  '%s is refused',
  async query => {
    expect(await api.get(`/limits?${query}`)).toMatchObject({ status: 400, code: 'invalid_request' })
  },
)
