// Names of the events that only the engine sends are refused at every entry point (docs/events.md#events-of-the-engine).

import { expect, test } from 'vitest'
import { openKeyed, tempStoreFile, unique } from '../../kit/index.ts'

const { api } = await openKeyed(async () => tempStoreFile())
const NAME = 'perdure/run.failed'
const refused = (field: string) => ({ status: 400, code: 'invalid_request', text: expect.stringContaining(field) })

test.each([
  ['name', '/events', { name: NAME }],
  ['name', '/events', { name: 'perdure/' }],
  ['name', '/events?dryRun=1', { name: NAME }],
  ['name', '/events', { name: NAME, delay: '1h' }],
  ['eventName', '/webhook-receivers', { name: 'a', eventName: NAME }],
  [
    'workflows[0].cancelOn[1].event',
    '/register',
    { app: 'a', url: 'http://127.0.0.1:9/', workflows: [{ name: 'a', cancelOn: [{ event: 'x' }, { event: NAME }] }] },
  ],
])('%s of POST %s with %j', async (field, path, body) => {
  expect(await api.post(path, body)).toMatchObject(refused(field))
})

test('an event of a batch is refused alone', async () => {
  const answer = await api.post('/events/batch', [{ name: unique('a') }, { name: NAME }])
  expect(answer.json).toMatchObject([{ eventId: expect.any(String) }, { error: { code: 'invalid_request' } }])
})

test('a schedule, and a receiver that exists', async () => {
  expect(await api.put(`/schedules/${unique('s')}`, { every: '1h', event: { name: NAME } })).toMatchObject(
    refused('event.name'),
  )
  const { json } = await api.post('/webhook-receivers', { name: unique('r'), eventName: 'paid' })
  const path = `/webhook-receivers/${(json as { id: string }).id}`
  expect(await api.patch(path, { eventName: NAME })).toMatchObject(refused('eventName'))
})

test('names that only look alike are sent', async () => {
  for (const name of ['perdure', 'perdure.run', 'Perdure/run.failed'])
    expect(await api.send({ name })).toMatchObject({ eventId: expect.any(String) })
})
