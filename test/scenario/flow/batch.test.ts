// Batch: several events become one run (docs/flow-control.md#batch).

import type { EventRecord } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { newStoreFile, openEngine, returned, scenario, unique, until } from '../../kit/index.ts'

const { api, clock, workflow } = await scenario()

const batched = (batch: Record<string, unknown>) => workflow(() => returned(), { registration: { batch } })

async function inputs(workflow: string): Promise<unknown[][]> {
  const runs = await api.runs(`?workflow=${workflow}&limit=500`)
  return Promise.all(runs.map(async ({ id }) => (await api.run(id)).input as unknown[]))
}

test('the event that fills the batch is answered with its run', async () => {
  const { name, record } = await batched({ maxSize: 2, timeout: '1h' })
  const first = await api.send({ name, data: 1 })
  expect(first.triggered).toMatchObject([{ batched: true }])
  expect(first.runId).toBeUndefined()
  const { eventId, runId, triggered } = await api.send({ name, data: 2 })
  expect(triggered).toMatchObject([{ workflow: name, batched: true, runId }])
  expect(await api.reaches(runId, 'succeeded')).toMatchObject({ input: [1, 2], eventId, eventName: name })
  expect(record.invokes[0]?.event).toEqual({ id: eventId, name, data: [1, 2] })
})

test('the events that came by the timeout become a run', async () => {
  const { name } = await batched({ maxSize: 10, timeout: '1h' })
  for (const data of [1, 2, 3]) await api.send({ name, data })
  clock.jump(3_600_000)
  await until(async () => (await inputs(name)).length === 1, { what: 'the batch' })
  expect(await inputs(name)).toEqual([[1, 2, 3]])
})

test('each event of a batch is linked to the run that it became, and the run to its events', async () => {
  const { name } = await batched({ maxSize: 3, timeout: '1h' })
  const events = async (ids: readonly string[]) =>
    Promise.all(ids.map(async id => ((await api.get(`/events/${id}`)).json as EventRecord).triggered))
  const ids: string[] = []
  for (const data of [1, 2]) ids.push((await api.send({ name, data })).eventId)
  const entry = { workflow: name, app: expect.any(String), batched: true }
  expect(await events(ids)).toEqual([[entry], [entry]])
  const { eventId, runId } = await api.send({ name, data: 3 })
  ids.push(eventId)
  expect(await events(ids)).toEqual(Array(3).fill([{ ...entry, runId }]))
  expect(await api.run(runId)).toMatchObject({ eventIds: ids })
  const { json } = await api.get(`/events?name=${name}`)
  expect((json as EventRecord[]).map(({ triggered }) => triggered)).toEqual(await events(ids))
})

test('a batch outlives the engine, and is dropped with its workflow', async () => {
  const storeFile = await newStoreFile()
  const before = await openEngine({ clock, storeFile })
  const [kept, dropped] = [unique('kept'), unique('dropped')]
  const registration = { batch: { maxSize: 5, timeout: '1m' } }
  const workflow = { handler: () => returned(), registration }
  const runner = await before.runner({ workflows: { [kept]: workflow, [dropped]: workflow } })
  for (const name of [kept, dropped, kept]) await before.api.send({ name, data: 0 })
  await runner.register(before.api, { workflows: [{ name: kept }] })
  await before.stop()
  clock.jump(3_600_000)
  const after = await openEngine({ clock, storeFile })
  await runner.rejoin(after.api)
  const [run] = await after.api.runsReach('', 1)
  expect(await after.api.run(run?.id as string)).toMatchObject({ workflow: kept, input: [0, 0] })
  await until(() => after.log.some(line => line.includes('a timer was dropped') && line.includes(dropped)), {
    what: 'the log of the dropped batch',
  })
  expect(await after.api.runs()).toHaveLength(1)
})
