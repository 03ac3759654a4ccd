// The events of a batch, in the handler of a workflow that collects them.

import { defineEvent } from '@perdure/client'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { OutputOf } from '../workflow/workflow.ts'
import { type TestRun, testEngine } from './index.ts'

const saved = defineEvent('page/saved', z.object({ page: z.string() }))
const removed = defineEvent('page/removed', z.object({ page: z.string().transform(page => page.toUpperCase()) }))
const batch = { maxSize: 3, timeout: '1h' } as const
const index = createWorkflow({ name: 'index', triggers: [saved, removed], batch }, async ({ event, step }) => {
  await step.sleep('night', '1d')
  return { data: event.data, events: event.events }
})

test('have their ids, names, times and validated data, in the order of the list, over a crash of the engine', async () => {
  await using engine = await testEngine([index])
  const first = await engine.send(saved, { page: 'a' })
  const firstAt = engine.now()
  await engine.advance('10m')
  const second = await engine.send(removed, { page: 'b' })
  engine.crash()
  await engine.restart()
  const third = await engine.send(saved, { page: 'c' })
  const [run] = third.runs as TestRun<OutputOf<typeof index>>[]
  if (!run) throw new Error('no run')
  const { data, events } = await run.result({ within: '2d' })
  expect(data).toEqual([{ page: 'a' }, { page: 'B' }, { page: 'c' }])
  expect(events).toMatchObject([
    { id: first.eventId, name: 'page/saved', data: { page: 'a' } },
    { id: second.eventId, name: 'page/removed', data: { page: 'B' } },
    { id: third.eventId, name: 'page/saved', data: { page: 'c' } },
  ])
  const times = events.map(({ receivedAt }) => Date.parse(receivedAt) - firstAt.getTime())
  expect(times.map(time => Math.round(time / 60_000))).toEqual([0, 10, 10])
})

test('are also those of a lone event, and none in a run that no event started', async () => {
  const counts = createWorkflow(
    { name: 'counts', triggers: { event: 'counted' }, debounce: { period: '1s', mode: 'all' } },
    ({ event }) => [event.data, event.events],
  )
  const parent = createWorkflow({ name: 'parent' }, ({ step }) =>
    step.runWorkflow('counts', { workflow: counts, data: [1, 2] }),
  )
  await using engine = await testEngine([counts, parent])
  const { eventId } = await engine.send('counted', 7)
  await engine.advance('2s')
  const [run] = await engine.runs()
  expect(await run?.result()).toEqual([
    [7],
    [{ id: eventId, name: 'counted', data: 7, receivedAt: expect.any(String) }],
  ])
  expect(await (await engine.start(parent)).result()).toEqual([[1, 2], []])
})
