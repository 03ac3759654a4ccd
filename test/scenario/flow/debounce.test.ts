// Debounce: a burst of events becomes one run (docs/flow-control.md#debounce).

import { expect, test } from 'vitest'
import { emit, flow, returned, scenario, unique } from '../../kit/index.ts'

const { api, clock, engine, workflow } = await scenario()

const debounced = (debounce: Record<string, unknown>) => workflow(() => returned(), { registration: { debounce } })

const runsOf = (workflow: string) => api.runs(`?workflow=${workflow}&limit=200`)

const runs = (workflow: string, count: number) => api.runsReach(`?workflow=${workflow}`, count)

test('the run starts when no event has come for the period, with the last event', async () => {
  const { name, record } = await debounced({ period: '10s' })
  const { eventId: first } = await api.send({ name, data: 1 })
  clock.jump(9000)
  const { triggered, runId, eventId } = await api.send({ name, data: { n: 2 }, dedupeId: unique('d') })
  expect(triggered).toMatchObject([{ workflow: name, debounced: true }])
  expect([triggered[0]?.runId, runId]).toEqual([undefined, undefined])
  clock.jump(9999)
  expect(await runsOf(name)).toEqual([])
  clock.jump(1)
  const [run] = await runs(name, 1)
  expect(run).toMatchObject({ triggerKind: 'event', eventId, eventName: name })
  await api.reaches(run?.id as string, 'succeeded')
  expect(record.invokes[0]?.event).toEqual({ id: eventId, name, data: { n: 2 } })
  expect(await runsOf(name)).toHaveLength(1)
  const { eventIds } = await api.run(run?.id as string)
  expect(eventIds).toEqual([first, eventId])
  const { json } = await api.get(`/events/${first}`)
  expect(json).toMatchObject({ triggered: [{ ...triggered[0], runId: run?.id }] })
})

test('mode all gives every payload; each key has a burst of its own', async () => {
  const { name } = await debounced({ period: '10s', mode: 'all', key: 'event.data.user' })
  for (const user of ['a', 'b', 'a']) await api.send({ name, data: { user } })
  clock.jump(10_000)
  const ended = await Promise.all((await runs(name, 2)).map(({ id }) => api.run(id)))
  expect(ended.map(({ input }) => input)).toEqual(
    expect.arrayContaining([[{ user: 'a' }, { user: 'a' }], [{ user: 'b' }]]),
  )
})

test('an emitted event is debounced, too', async () => {
  const { name } = await debounced({ period: '10s', timeout: '12s', mode: 'first' })
  const source = unique('source')
  await engine.runner({
    workflows: {
      [source]: flow([emit('notify', name, 7)]),
    },
  })
  const { runId } = await api.send({ name: source })
  await api.reaches(runId, 'succeeded')
  clock.jump(9000)
  await api.send({ name, data: 8 })
  clock.jump(2999)
  expect(await runsOf(name)).toEqual([])
  clock.jump(1)
  const [run] = await runs(name, 1)
  expect(await api.run(run?.id as string)).toMatchObject({ input: 7 })
})
