// Keys that take turns when a limit holds runs back (docs/flow-control.md#fairness). The shares that they get are in
// order-servers.test.ts.

import { expect, test } from 'vitest'
import { gate, type Invoke, openRunner, returned, scenario, unique, until, waitsFor } from '../../kit/index.ts'

const { api, clock } = await scenario()

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
  for (const key of [...Array(12).fill('big'), ...Array(4).fill('small')]) held.push(await send(key))
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
  const fairness = { key: 'event.data.user' }
  const warned = (await api.offer({ fairness })).json as { warnings: string[] }
  expect(warned.warnings).toEqual([
    expect.stringContaining('workflow "w": fairness: without `concurrency` or `throttle`'),
  ])
  const limits = {
    concurrency: [{ limit: 2, key: 'event.data.a', scope: 'namespace' }],
    throttle: { limit: 1, period: '1m' },
    priority: 'event.data.p',
    timeouts: { queue: '1m', run: '1h' },
  }
  const fine = (await api.offer({ fairness, ...limits })).json as { warnings: string[] }
  expect(fine.warnings).toEqual([])
  const refused = await api.offer({ fairness: { ...fairness, weight: 'event.data.' } })
  expect(refused.status).toBe(400)
  expect(JSON.stringify(refused.json)).toContain('fairness.weight')
})
