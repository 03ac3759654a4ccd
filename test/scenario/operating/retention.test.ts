// ENGINE_RETENTION, through the HTTP interface: expired runs read as absent, and live runs continue
// (docs/operating.md#retention).

import { verifyStore } from '@perdure/engine'
import { expect, test } from 'vitest'
import {
  flow,
  JumpClock,
  openDestination,
  openEngine,
  run,
  StepFailure,
  step,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const DAY = 86_400_000
const MINUTE = 60_000

async function start(retention: string | undefined) {
  const clock = new JumpClock()
  const env: Record<string, string> = retention === undefined ? {} : { ENGINE_RETENTION: retention }
  const engine = await openEngine({ onDisk: true, clock, env: { ...env, ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' } })
  const { api } = engine
  const destination = await openDestination()
  const [done, lost, held, go] = [unique('done'), unique('lost'), unique('held'), unique('go')]
  const runner = await engine.runner({
    workflows: {
      [done]: flow([step('Webhook', 'notify', { webhookUrl: destination.url, data: { long: 'x'.repeat(3000) } })]),
      [lost]: flow([run('no', () => Promise.reject(new StepFailure('no', { retriable: false })))]),
      [held]: flow([wait('hold', go, 365 * DAY)]),
    },
  })
  const status = async (path: string) => (await api.get(path)).status
  const { runId: doneId, eventId } = await api.send({ name: done, data: 'x'.repeat(3000) })
  const { runId: lostId } = await api.send({ name: lost })
  await api.reaches(doneId, 'succeeded')
  await api.reaches(lostId, 'failed')
  const sent = await until(async () => {
    const list = (await api.get('/webhook-deliveries?status=succeeded')).json as { id: string }[]
    return list[0]
  })
  /** Lets time pass, and lets the engine look for expired rows until they are gone. */
  const pass = async (ms: number, isThere: () => Promise<boolean>) => {
    clock.jump(ms)
    await until(async () => {
      clock.jump(MINUTE)
      return isThere()
    })
  }
  const violations = async () => {
    const found: unknown[] = []
    for await (const violation of verifyStore(`sqlite:${engine.storeFile}`)) found.push(violation)
    return found
  }
  return { engine, runner, api, clock, status, doneId, lostId, eventId, sent, held, go, done, pass, violations }
}

test('ended runs expire by status, with their steps, deliveries and events; a live run keeps the events it may wait for', async () => {
  const { runner, api, clock, status, doneId, lostId, eventId, sent, held, go, pass, violations } =
    await start('succeeded=2d,failed=10d')
  clock.jump(1000)
  const { runId: heldId } = await api.send({ name: held })
  await api.reaches(heldId, 'waiting')
  const { eventId: metId } = await api.send({ name: unique('stray') })
  await pass(2 * DAY, async () => (await status(`/runs/${doneId}`)) === 404)
  expect(await status(`/runs/${doneId}/steps`)).toBe(404)
  expect(await status(`/runs/${lostId}`)).toBe(200)
  expect(await status(`/events/${eventId}`)).toBe(200)
  expect(await violations()).toEqual([])
  await pass(8 * DAY, async () => (await status(`/events/${eventId}`)) === 404)
  expect(await status(`/runs/${lostId}`)).toBe(404)
  await until(async () => {
    clock.jump(MINUTE)
    return (await status(`/webhook-deliveries/${sent.id}`)) === 404
  })
  expect(await status(`/events/${metId}`)).toBe(200)
  expect((await api.post(`/runs/${lostId}/replay`, {})).status).toBe(404)
  expect(await violations()).toEqual([])
  // After ten silent days, it was forgotten.
  await runner.register(api)
  await api.post('/events', { name: go })
  await api.reaches(heldId, 'succeeded')
})

test('without a retention everything is kept, and one of a workflow keeps its bounds', async () => {
  const { api, status, clock, doneId, eventId, sent } = await start(undefined)
  for (let i = 0; i < 3; i++) {
    clock.jump(400 * DAY)
    await new Promise(resolve => setImmediate(resolve))
  }
  for (const path of [`/runs/${doneId}`, `/events/${eventId}`, `/webhook-deliveries/${sent.id}`])
    expect(await status(path)).toBe(200)

  const register = (retention: unknown) =>
    api.post('/register', { app: 'shop', url: 'http://127.0.0.1:1', workflows: [{ name: 'order', retention }] })
  for (const failed of [0, '0s', -1, '101 years', 'soon'])
    expect(await register({ failed })).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request', message: expect.stringContaining('retention') } },
    })
  expect(await register({ failed: '1h', expired: '1h' })).toMatchObject({
    status: 200,
    json: { warnings: [expect.stringContaining('expired')] },
  })
  const { json } = await api.get('/workflows')
  expect(json).toContainEqual(expect.objectContaining({ name: 'order', retention: { failed: 3_600_000 } }))
})

test('a dedupe id still counts within its window after its event has expired', async () => {
  const { api, clock, done, status, pass } = await start('1m')
  const dedupeId = unique('dedupe')
  const { runId } = await api.send({ name: done, dedupeId })
  await api.reaches(runId, 'succeeded')
  await pass(2 * MINUTE, async () => (await status(`/runs/${runId}`)) === 404)
  expect((await api.post('/events', { name: done, dedupeId })).json).toEqual({ deduped: true })
  clock.jump(DAY)
  expect((await api.send({ name: done, dedupeId })).runId).toBeDefined()
})

test('a workflow keeps its own runs longer or shorter than the engine', async () => {
  const { engine, api, status, doneId, pass, violations } = await start('1d')
  const [short, long] = [unique('short'), unique('long')]
  await engine.runner({
    app: unique('app'),
    workflows: {
      [short]: { handler: flow([]), registration: { retention: { succeeded: '10s' } } },
      [long]: { handler: flow([]), registration: { retention: { succeeded: '30d', failed: 1000 } } },
    },
  })
  const { runId: shortId } = await api.send({ name: short })
  const { runId: longId } = await api.send({ name: long })
  for (const runId of [shortId, longId]) await api.reaches(runId, 'succeeded')
  await pass(MINUTE, async () => (await status(`/runs/${shortId}`)) === 404)
  expect(await status(`/runs/${doneId}`)).toBe(200)
  await pass(DAY, async () => (await status(`/runs/${doneId}`)) === 404)
  expect(await status(`/runs/${longId}`)).toBe(200)
  await pass(30 * DAY, async () => (await status(`/runs/${longId}`)) === 404)
  expect(await violations()).toEqual([])
})
