// Runs that wait for one limit start in the order of the log (docs/flow-control.md#concurrency), on both databases and with two
// engines on one: across single posts, lists, claims, throttles and paused workflows, priorities first, and by the shares of
// fairness keys (docs/flow-control.md#fairness).

import { describe, expect, test } from 'vitest'
import {
  type Api,
  child,
  flow,
  gate,
  type Handler,
  type Invoke,
  openEngines,
  openRunner,
  PLACES,
  REDIS_URL,
  returned,
  run,
  sleep,
  unique,
  until,
} from '../../kit/index.ts'

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

const many = (key: string, count: number) => Array<string>(count).fill(key)

describe.each(PLACES)('on %s', async (_, freshStore, count) => {
  // Engines count the starts of a throttle together.
  const env: Record<string, string> =
    count > 1 ? { ENGINE_QUEUE: REDIS_URL, ENGINE_LIMITER: REDIS_URL } : { ENGINE_QUEUE: 'memory' }
  const engines = await openEngines(freshStore, count, { env })

  async function serve(workflows: Record<string, Handler | { handler: Handler; registration: object }>, api: Api) {
    const runner = await openRunner({ workflows: workflows as never })
    await runner.register(api)
    const paused = async (name: string, isPaused: boolean) =>
      expect((await api.post(`/workflows/${runner.app}/${name}/${isPaused ? 'pause' : 'resume'}`)).status).toBe(200)
    return { paused }
  }

  test.each(Object.entries(LIMITS))(
    'runs start in the order of the log: %s',
    async (_, { posted, listed, policies }) => {
      const { api, other } = 'concurrency' in policies ? engines : await openEngines(freshStore, 1)
      const name = unique('step')
      const started: { n: number; runId: string }[] = []
      const handler = ({ ctx, event: { data } }: Invoke) => {
        started.push({ n: (data as { n: number }).n, runId: ctx.runId })
        return returned()
      }
      const { paused } = await serve({ [name]: { handler, registration: policies } }, api)
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
      await paused(name, true)
      await sendAll(other, posted + listed)
      const held = async () => (await api.runs(`?workflow=${name}&waitingFor=workflow-paused&limit=200`)).length
      await until(async () => (await held()) === listed)
      await paused(name, false)
      await all(posted + 2 * listed)
    },
  )

  test('priorities go before, and the children of a pass have its order', async () => {
    const { api } = engines
    const [name, parent] = [unique('one'), unique('parent')]
    const started: string[] = []
    const handler = ({ event: { data } }: Invoke) => {
      started.push((data as { n: string }).n)
      return returned()
    }
    const children = Array.from({ length: 12 }, (_, i) => child(`c${i}`, name, { n: `${i}` }))
    const registration = { concurrency: { limit: 1 }, priority: 'event.data.n == "high" ? 1 : 0' }
    const { paused } = await serve({ [name]: { handler, registration }, [parent]: flow([children]) }, api)
    await paused(name, true)
    await api.send({ name: parent })
    await until(async () => (await api.runs(`?workflow=${name}`)).length === children.length)
    for (const n of ['a', 'high', 'b']) await api.send({ name, data: { n } })
    const held = async () => (await api.runs(`?workflow=${name}&waitingFor=workflow-paused`)).length
    await until(async () => (await held()) === children.length + 3)
    await paused(name, false)
    await until(() => started.length === children.length + 3)
    expect(started).toEqual(['high', ...children.map((_, i) => `${i}`), 'a', 'b'])
  })

  /** Starts runs of these keys behind one that blocks the limit, and returns the keys in the order in which the runs started. */
  async function shares(keys: readonly string[]): Promise<string[]> {
    const { api } = engines
    const [name, opened, seen] = [unique('fair'), gate(), [] as string[]]
    const handler = async ({ event: { data } }: Invoke) => {
      const { key } = data as { key: string }
      if (key === 'first') await opened.opened
      else seen.push(key)
      return returned()
    }
    const fairness = { key: 'event.data.key', weight: 'event.data.key == "three" ? 3 : 1' }
    await serve({ [name]: { handler, registration: { fairness, concurrency: { limit: 1 } } } }, api)
    const first = await api.send({ name, data: { key: 'first' } })
    const events = keys.map(key => ({ name, data: { key } }))
    expect((await api.post('/events/batch', events)).status).toBe(200)
    const held = async () => (await api.get(`/limits?workflow=${name}`)).json as { waiting?: number }[]
    await until(async () => (await held())[0]?.waiting === keys.length)
    opened.open()
    await api.succeeded(first.runId)
    await until(() => seen.length === keys.length, { what: `${keys.length} runs to start` })
    return seen
  }

  test('a key with 100 runs delays four with two each until a tenth of the work is done', async () => {
    const small = Array.from({ length: 4 }, (_, n) => many(`small ${n}`, 2)).flat()
    const seen = await shares([...many('big', 100), ...small])
    expect(seen.findLastIndex(key => key !== 'big')).toBeLessThanOrEqual((100 + 8) / 10)
  })

  test('three turns go to a weight of 3 where one goes to 1', async () => {
    const seen = await shares([...many('one', 40), ...many('three', 40)])
    const three = seen.slice(0, 52).filter(key => key === 'three').length
    // 39, within 5 %.
    expect(three).toBeGreaterThan(37)
    expect(three).toBeLessThan(41)
  })

  test('runs that keep their slot go one after the other, through sleeps', async () => {
    const { api, other } = engines
    const name = unique('lane')
    const inLane: string[] = []
    const order: number[] = []
    const begin = run('begin', ({ ctx, event }) => {
      inLane.push(ctx.runId)
      order.push((event.data as { n: number }).n)
      return inLane.length
    })
    const end = run('end', () => inLane.pop() ?? null)
    const handler = flow([begin, sleep('nap', 5), end], (results: Record<string, unknown>) => results.begin)
    await serve({ [name]: { handler, registration: { concurrency: { limit: 1, hold: 'run' } } } }, api)
    const runs: string[] = []
    for (let n = 0; n < 30; n++) runs.push((await (n % 2 ? api : other).send({ name, data: { n } })).runId)
    for (const runId of runs) expect(await api.succeeded(runId)).toMatchObject({ result: 1 })
    expect(order).toEqual(runs.map((_, n) => n))
  })
})
