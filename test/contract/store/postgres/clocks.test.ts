// Engines whose clocks differ: a later commit of one engine is never stored with an earlier time than a commit of the other.

import { expect, test } from 'vitest'
import { openPostgresStore } from '../../../../packages/engine/src/adapters/sql/postgres/store.ts'
import { onCleanup } from '../../../kit/cleanup.ts'
import { freshSchema } from '../../../kit/servers/postgres.ts'
import { anEvent, aRun, NOW, NS, write } from '../samples.ts'

async function engines() {
  const url = await freshSchema()
  const [ahead, behind] = await Promise.all([openPostgresStore({ url }), openPostgresStore({ url })])
  onCleanup(() => Promise.all([ahead.close(), behind.close()]))
  const since = (from: number) =>
    behind.eventsSince({ namespace: NS, eventName: 'go', since: from, after: 0, limit: 10 })
  return { ahead, behind, since }
}

test('a run sees the event that came after it, at an engine whose clock is behind', async () => {
  const { ahead, behind, since } = await engines()
  await write(ahead, { type: 'run.created', run: aRun({ createdAt: NOW + 40 }) })
  const event = anEvent({ name: 'go', receivedAt: NOW })
  await write(behind, { type: 'event.recorded', event })
  expect((await since(NOW + 40)).map(({ event }) => event)).toEqual([{ ...event, receivedAt: NOW + 40 }])
})

test('a run sees it also when an event was committed last, or when run and event are in one batch', async () => {
  const { ahead, behind, since } = await engines()
  await write(ahead, { type: 'event.recorded', event: anEvent({ name: 'other', receivedAt: NOW + 40 }) })
  await Promise.all([
    write(behind, { type: 'run.created', run: aRun({ createdAt: NOW + 60 }) }),
    write(behind, { type: 'event.recorded', event: anEvent({ name: 'go', receivedAt: NOW }) }),
  ])
  expect(await since(NOW + 60)).toHaveLength(1)
})

test('an event keeps its time when that is more than a second behind', async () => {
  const { ahead, behind, since } = await engines()
  await write(ahead, { type: 'run.created', run: aRun({ createdAt: NOW + 1001 }) })
  await write(behind, { type: 'event.recorded', event: anEvent({ name: 'go', receivedAt: NOW }) })
  expect(await since(NOW + 1)).toEqual([])
  expect(await since(NOW)).toHaveLength(1)
})
