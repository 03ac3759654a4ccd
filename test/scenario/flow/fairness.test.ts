// Keys that take turns when a limit holds runs back (docs/flow-control.md#fairness), on both databases and at two engines of
// one.

import { expect, test } from 'vitest'
import {
  gate,
  type Invoke,
  openEngines,
  openRunner,
  PLACES,
  REDIS_URL,
  returned,
  scenario,
  unique,
  until,
  waitsFor,
} from '../../kit/index.ts'

const { api, clock } = await scenario()

const LIMIT = { concurrency: { limit: 1 } }

/** Starts runs of these keys behind one that blocks the limit, and returns the keys in the order in which the runs started. */
async function started(
  [freshStore, count]: [(typeof PLACES)[number][1], number],
  keys: readonly string[],
): Promise<string[]> {
  const shared = { ENGINE_QUEUE: REDIS_URL, ENGINE_LIMITER: REDIS_URL }
  const { api } = await openEngines(freshStore, count, { env: count > 1 ? shared : { ENGINE_QUEUE: 'memory' } })
  const name = unique('fair')
  const opened = gate()
  const seen: string[] = []
  const handler = async ({ event: { data } }: Invoke) => {
    const { key } = data as { key: string }
    if (key === 'first') await opened.opened
    else seen.push(key)
    return returned()
  }
  const registration = { fairness: { key: 'event.data.key', weight: 'event.data.key == "three" ? 3 : 1' }, ...LIMIT }
  const runner = await openRunner({ workflows: { [name]: { handler, registration } } })
  await runner.register(api)
  const first = await api.send({ name, data: { key: 'first' } })
  const events = keys.map(key => ({ name, data: { key } }))
  for (let at = 0; at < events.length; at += 500)
    expect((await api.post('/events/batch', events.slice(at, at + 500))).status).toBe(200)
  const held = async () => (await api.get('/limits')).json as { waiting?: number }[]
  await until(async () => (await held())[0]?.waiting === keys.length)
  opened.open()
  await api.succeeded(first.runId as string)
  await until(() => seen.length === keys.length, { what: `${keys.length} runs to start` })
  return seen
}

const many = (key: string, count: number) => Array<string>(count).fill(key)

test.each(PLACES)(
  'a key with 200 runs delays nine with two each until a tenth of the work is done, on %s',
  async (_, ...place) => {
    const small = Array.from({ length: 9 }, (_, n) => many(`small ${n}`, 2)).flat()
    const seen = await started(place, [...many('big', 200), ...small])
    const last = seen.findLastIndex(key => key !== 'big')
    expect(last).toBeLessThanOrEqual((200 + 18) / 10)
  },
)

test.each(PLACES)('three turns go to a weight of 3 where one goes to 1, on %s', async (_, ...place) => {
  const seen = await started(place, [...many('one', 80), ...many('three', 80)])
  const three = seen.slice(0, 100).filter(key => key === 'three').length
  // 75, within 5 %.
  expect(three).toBeGreaterThan(71)
  expect(three).toBeLessThan(79)
})

test('keys take turns in the start queue of a throttle', async () => {
  const name = unique('fair')
  const seen: string[] = []
  const registration = { throttle: { limit: 1, period: '10s' }, fairness: { key: 'event.data.key' } }
  const handler = ({ event }: Invoke) => {
    seen.push((event.data as { key: string }).key)
    return returned()
  }
  const runner = await openRunner({ workflows: { [name]: { handler, registration } } })
  await runner.register(api)
  const send = async (key: string) => {
    clock.jump(1)
    return (await api.send({ name, data: { key } })).runId as string
  }
  await api.succeeded(await send('first'))
  const held = []
  for (const key of [...many('big', 12), ...many('small', 4)]) held.push(await send(key))
  for (const runId of held) await waitsFor(api, runId, 'throttle')
  while (seen.length < 1 + held.length) {
    const { length } = seen
    clock.jump(10_000)
    await until(() => seen.length > length, { what: 'the next start' })
  }
  expect(seen.slice(1, 9).filter(key => key === 'small')).toHaveLength(4)
  for (const runId of held) await api.succeeded(runId)
})

test('a held run of a key is shown its place among those of the key', async () => {
  const name = unique('fair')
  const opened = gate()
  const registration = { concurrency: { limit: 1 }, fairness: { key: 'event.data.key' } }
  const runner = await openRunner({
    workflows: {
      [name]: {
        handler: async () => {
          await opened.opened
          return returned()
        },
        registration,
      },
    },
  })
  await runner.register(api)
  const send = async (key: string) => {
    clock.jump(1)
    return (await api.send({ name, data: { key } })).runId as string
  }
  const runIds = [await send('a'), await send('a'), await send('a'), await send('b')]
  for (const runId of runIds.slice(1)) await waitsFor(api, runId, 'concurrency')
  const why = await Promise.all(runIds.slice(2).map(async runId => (await api.get(`/runs/${runId}/why`)).json))
  expect(why).toMatchObject([
    {
      position: 1,
      sentence: expect.stringContaining('among the runs of its fairness key "a", and the keys take turns'),
    },
    { position: 0 },
  ])
  opened.open()
  for (const runId of runIds) await api.succeeded(runId)
})

test('a registration warns of fairness without a limit, and is refused with an expression that does not compile', async () => {
  const register = (workflow: Record<string, unknown>) =>
    api.post('/register', {
      app: unique('app'),
      url: 'http://127.0.0.1:9/',
      workflows: [{ name: 'w', ...workflow }],
    })
  const fairness = { key: 'event.data.user' }
  const warned = (await register({ fairness })).json as { warnings: string[] }
  expect(warned.warnings).toEqual([
    expect.stringContaining('workflow "w": fairness: without `concurrency` or `throttle`'),
  ])
  const fine = (await register({ fairness, throttle: { limit: 1, period: '1s' } })).json as { warnings: string[] }
  expect(fine.warnings).toEqual([])
  const refused = await register({ fairness: { ...fairness, weight: 'event.data.' } })
  expect(refused.status).toBe(400)
  expect(JSON.stringify(refused.json)).toContain('fairness.weight')
})
