// When a held run may start, as `GET /limits` and `GET /runs/{id}/why` show it, and the limits of a key, on both databases
// (docs/flow-control.md#why-does-it-wait).

import type { RunExplanation } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { flow, gate, openEngines, openRunner, PLACES, run, unique, waitsFor, waitsForStart } from '../../kit/index.ts'

const HOUR = 3_600_000
/** One engine per store, because starts are counted in its memory. */
const STORES = PLACES.map(([place, fresh]) => [place.split(',')[0], fresh] as const)

test.each(STORES)('a long throttle shows its next start, not an internal recheck, on %s', async (_, fresh) => {
  const { api } = await openEngines(fresh, 1)
  const name = unique('slow')
  const registration = {
    triggers: [{ event: name }],
    throttle: { limit: 1, period: '1h' },
    priority: 'event.data.urgent ? 100 : 0',
  }
  const runner = await openRunner({ workflows: { [name]: { handler: flow([run('a')]), registration } } })
  await runner.register(api)
  const send = async (urgent: boolean) => (await api.send({ name, data: { urgent } })).runId as string
  const { startedAt } = await api.succeeded(await send(false))
  await waitsForStart(api, await send(false))
  const urgent = await send(true)
  const startsAt = await waitsForStart(api, urgent)
  expect(Math.abs(Date.parse(startsAt) - Date.parse(startedAt as string) - HOUR)).toBeLessThan(10_000)
  const [limit] = (await api.get(`/limits?workflow=${name}`)).json as { inLine: number; nextStartAt: string }[]
  expect(limit).toMatchObject({ inLine: 2, nextStartAt: startsAt })
  const why = (await api.get(`/runs/${urgent}/why`)).json as RunExplanation
  expect([why.position, why.wakeAt]).toEqual([0, startsAt])
})

test.each(STORES)('limits are found by their exact key, whatever others an answer has, on %s', async (_, fresh) => {
  const { api } = await openEngines(fresh, 1)
  const [held, slow, odd] = [unique('held'), unique('slow'), `a"d\\a%_'\0`]
  const registration = {
    concurrency: [
      { limit: 1, key: 'event.data.user' },
      { limit: 9, key: 'event.data.team' },
    ],
    singleton: { mode: 'skip', key: 'event.data.lane' },
  }
  const handler = flow([run('hold', () => gate().opened)])
  const throttle = { limit: 1, period: '1h', key: 'event.data.user' }
  const workflows = { [held]: { handler, registration }, [slow]: { handler, registration: { throttle } } }
  await (await openRunner({ workflows })).register(api)
  const send = async (name: string, data: object) => (await api.send({ name, data })).runId as string
  for (const user of ['eve', 'ada', odd])
    await api.reaches(await send(held, { user, team: 'red', lane: user }), 'running')
  for (let i = 0; i < 2; i++) await waitsFor(api, await send(held, { user: 'eve', team: 'red' }), 'concurrency')
  await waitsFor(api, await send(held, { user: 'ada', team: 'blue' }), 'concurrency')
  for (const user of ['eve', 'ada']) await api.reaches(await send(slow, { user }), 'running')
  for (const user of ['eve', 'eve', 'ada']) await waitsForStart(api, await send(slow, { user }))
  const limitsOf = async (key: string, query = '') =>
    (await api.get(`/limits?limit=1&key=${encodeURIComponent(key)}${query}`)).json
  expect(await limitsOf('ada', `&workflow=${held}`)).toMatchObject([{ key: 'ada', held: 1, waiting: 1 }])
  expect(await limitsOf('ada', '&kind=throttle')).toMatchObject([{ key: 'ada', workflow: slow, inLine: 1 }])
  expect(await limitsOf('red')).toMatchObject([{ key: 'red', held: 3, waiting: 0 }])
  expect(await limitsOf(odd)).toMatchObject([{ key: odd, held: 1 }])
  for (const none of ['ADA', 'ad', 'blue']) expect(await limitsOf(none)).toEqual([])
  for (const query of ['', `&workflow=${held}&app=${(await api.runs())[0]?.app}`])
    expect(await limitsOf(odd, `&kind=singleton${query}`)).toMatchObject([{ key: odd, workflow: held }])
  expect(await limitsOf('ADA', '&kind=singleton')).toEqual([])
})
