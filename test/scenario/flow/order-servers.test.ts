// Runs that one limit holds back start in the order of the log (docs/flow-control.md#concurrency), on both databases and at two
// engines of one: across single posts, lists, claims, throttles and paused workflows. Priorities come first.

import { expect, test } from 'vitest'
import {
  type Api,
  child,
  flow,
  type Invoke,
  openEngines,
  openRunner,
  PLACES,
  REDIS_URL,
  returned,
  unique,
  until,
} from '../../kit/index.ts'

const env = { ENGINE_QUEUE: 'memory' }

/** Runs that are posted one by one, and in each list. A throttle alone runs at one engine: two may swap close starts. */
const LIMITS = {
  concurrency: {
    posted: 20,
    listed: 60,
    policies: { concurrency: { limit: 1, key: 'event.data.key' } },
  },
  throttle: { posted: 6, listed: 12, policies: { throttle: { limit: 30, period: '1s' } } },
  both: {
    posted: 6,
    listed: 12,
    policies: { concurrency: { limit: 1 }, throttle: { limit: 30, period: '1s', burst: 9 } },
  },
} as const

test.each(
  PLACES.flatMap(([place, freshStore, count]) =>
    Object.entries(LIMITS).map(([limit, options]) => ({ place, limit, freshStore, count, ...options })),
  ),
)('runs start in the order of the log: $limit, on $place', async ({ freshStore, count, posted, listed, policies }) => {
  // Engines count the starts of a throttle together.
  const shared = { ENGINE_QUEUE: REDIS_URL, ENGINE_LIMITER: REDIS_URL }
  const engines = 'concurrency' in policies ? count : 1
  const { api, other } = await openEngines(freshStore, engines, { env: engines > 1 ? shared : env })
  const name = unique('step')
  const started: { n: number; runId: string }[] = []
  const handler = ({ ctx, event: { data } }: Invoke) => {
    started.push({ n: (data as { n: number }).n, runId: ctx.runId })
    return returned()
  }
  const runner = await openRunner({ workflows: { [name]: { handler, registration: policies } } })
  await runner.register(api)
  const { app } = runner
  const sendAll = async (at: Api, from: number) => {
    const events = Array.from({ length: listed }, (_, i) => ({ name, data: { n: from + i, key: 'ada' } }))
    expect((await at.post('/events/batch', events)).status).toBe(200)
  }
  const all = async (total: number) => {
    await until(() => started.length >= total, { what: `${total} runs to start` })
    // Without a limit of one run at a time, two invokes of one moment may overtake each other, so the engine's times count.
    const inOrder = 'concurrency' in policies ? started : await byStart(started)
    expect(inOrder.map(({ n }) => n)).toEqual(Array.from({ length: total }, (_, n) => n))
  }
  const byStart = async (runs: typeof started) => {
    const listed = await until(async () => {
      const found = await api.runs(`?workflow=${name}&limit=200`)
      return found.filter(({ startedAt }) => startedAt !== undefined).length >= runs.length && found
    })
    const startOf = (runId: string) => listed.find(({ id }) => id === runId)?.startedAt ?? ''
    return runs.toSorted((a, b) => startOf(a.runId).localeCompare(startOf(b.runId)) || a.n - b.n)
  }
  for (let n = 0; n < posted; n++) await (n % 2 ? api : other).send({ name, data: { n, key: 'ada' } })
  await sendAll(api, posted)
  await all(posted + listed)
  // Runs that are held by their workflow's pause.
  expect((await api.post(`/workflows/${app}/${name}/pause`)).status).toBe(200)
  await sendAll(other, posted + listed)
  const held = async () => (await api.runs(`?workflow=${name}&waitingFor=workflow-paused&limit=200`)).length
  await until(async () => (await held()) === listed)
  expect((await api.post(`/workflows/${app}/${name}/resume`)).status).toBe(200)
  await all(posted + 2 * listed)
})

test.each(PLACES)(
  'priorities go before, and the children of a pass have its order, on %s',
  async (_, freshStore, count) => {
    const { api } = await openEngines(freshStore, count, { env })
    const [name, parent] = [unique('one'), unique('parent')]
    const started: string[] = []
    const handler = ({ event: { data } }: { event: { data?: unknown } }) => {
      started.push((data as { n: string }).n)
      return returned()
    }
    const children = Array.from({ length: 12 }, (_, i) => child(`c${i}`, name, { n: `${i}` }))
    const runner = await openRunner({
      workflows: {
        [name]: { handler, registration: { concurrency: { limit: 1 }, priority: 'event.data.n == "high" ? 1 : 0' } },
        [parent]: flow([children]),
      },
    })
    await runner.register(api)
    const { app } = runner
    expect((await api.post(`/workflows/${app}/${name}/pause`)).status).toBe(200)
    await api.send({ name: parent })
    await until(async () => (await api.runs(`?workflow=${name}`)).length === children.length)
    for (const n of ['a', 'high', 'b']) await api.send({ name, data: { n } })
    const held = async () => (await api.runs(`?workflow=${name}&waitingFor=workflow-paused`)).length
    await until(async () => (await held()) === children.length + 3)
    expect((await api.post(`/workflows/${app}/${name}/resume`)).status).toBe(200)
    await until(() => started.length === children.length + 3)
    expect(started).toEqual(['high', ...children.map((_, i) => `${i}`), 'a', 'b'])
  },
)
