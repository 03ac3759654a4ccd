// When a held run may start, as `GET /limits` and `GET /runs/{id}/why` show it, on both databases (docs/flow-control.md#why-does-it-wait).

import type { RunExplanation } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { flow, openEngines, openRunner, PLACES, run, unique, waitsFor } from '../../kit/index.ts'

const HOUR = 3_600_000
/** One engine each: starts are counted in its memory. */
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
  const [old, urgent] = [await send(false), await send(true)]
  for (const runId of [old, urgent]) await waitsFor(api, runId, 'throttle')
  const startsAt = (await api.run(urgent)).waitingFor?.until as string
  expect(Math.abs(Date.parse(startsAt) - Date.parse(startedAt as string) - HOUR)).toBeLessThan(10_000)
  const [limit] = (await api.get(`/limits?workflow=${name}`)).json as { inLine: number; nextStartAt: string }[]
  expect(limit).toMatchObject({ inLine: 2, nextStartAt: startsAt })
  const why = (await api.get(`/runs/${urgent}/why`)).json as RunExplanation
  expect([why.position, why.wakeAt]).toEqual([0, startsAt])
})
