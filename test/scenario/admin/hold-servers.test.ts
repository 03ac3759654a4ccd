// An engine that is started on hold (docs/operating.md#hold-an-engine): it answers and accepts requests, but starts no work until
// it is released.

import { describe, expect, test } from 'vitest'
import {
  flow,
  JumpClock,
  openDestination,
  openEngine,
  openRunner,
  perdure,
  run,
  STORES,
  sleep,
  startEngine,
  unique,
  until,
} from '../../kit/index.ts'
import { API_KEYS, OTHER_KEY, READ_KEY, SECRET_KEY, Webhooks } from '../../kit/webhook/webhooks.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const env = { ENGINE_API_KEYS: API_KEYS, ENGINE_WEBHOOK_ALLOW_PRIVATE: '1', ENGINE_RETENTION: '1d' }
const HELD = { ...env, ENGINE_HOLD: '1' }

/** A store with an ended run whose webhook was delivered, a sleeping run, and a schedule. */
async function filled(storeFile: string) {
  const clock = new JumpClock()
  const engine = await openEngine({ storeFile, clock, env })
  const api = engine.api.as(SECRET_KEY)
  const [done, napper, hourly] = [unique('done'), unique('napper'), unique('hourly')]
  const noted: string[] = []
  const note = (name: string) => run('work', () => noted.push(name))
  const runner = await openRunner({
    workflows: {
      [done]: flow([note(done)]),
      [napper]: flow([sleep('nap', HOUR), note(napper)]),
      [hourly]: { handler: flow([note(hourly)]), registration: { triggers: [{ cron: '0 * * * *' }] } },
    },
  })
  await runner.register(api)
  const destination = await openDestination()
  const { id: endpointId } = await new Webhooks(api).endpoint({ url: destination.url, eventKinds: ['run.succeeded'] })
  const { runId: doneId } = await api.send({ name: done })
  const { runId: napId } = await api.send({ name: napper })
  await api.reaches(doneId, 'succeeded')
  await api.reaches(napId, 'waiting')
  await until(() => destination.requests.length === 1)
  await engine.stop()
  return { clock, runner, destination, endpointId, names: { done, napper, hourly }, doneId, napId, noted }
}

test.each(STORES)('on %s nothing is claimed, fired, delivered or removed until the release', async (_, newStore) => {
  const storeFile = await newStore()
  const { clock, runner, destination, endpointId, names, doneId, napId, noted } = await filled(storeFile)
  clock.jump(48 * HOUR)
  const engine = await openEngine({ storeFile, clock, env: HELD })
  const api = engine.api.as(SECRET_KEY)
  await runner.rejoin(api)
  const readiness = async () => (await api.get('/readyz')).json
  expect(await api.get('/readyz')).toMatchObject({ status: 503, json: { status: 'not_ready', held: true } })
  expect((await api.get('/engines')).json).toMatchObject([{ self: true, held: true }])
  expect((await api.get('/metrics')).text).toMatch(/^perdure_held 1$/m)

  // The engine accepts events and control actions: the run that is due now is cancelled at once, and a new one stays queued.
  const { runId: cancelledId } = await api.send({ name: names.done })
  expect((await api.post(`/runs/${cancelledId}/cancel`)).json).toMatchObject({ status: 'cancelled' })
  const { runId: newId } = await api.send({ name: names.done })
  expect((await api.post(`/webhook-endpoints/${endpointId}/test`)).json).toMatchObject({ error: { code: 'conflict' } })
  for (let i = 0; i < 48; i++) clock.jump(HOUR)
  expect((await api.get(`/runs/${newId}`)).json).toMatchObject({ status: 'queued' })
  expect((await api.get(`/runs/${newId}/why`)).json).toMatchObject({
    sentence: expect.stringContaining('This engine is held'),
  })
  expect((await api.get(`/runs/${napId}`)).json).toMatchObject({ status: 'waiting' })
  expect((await api.get(`/runs/${doneId}`)).status).toBe(200)
  expect((await api.get(`/runs?workflow=${names.hourly}`)).json).toEqual([])
  expect(noted).toEqual([names.done])
  expect(destination.requests).toHaveLength(1)

  const refused = async (key: string) => (await engine.api.as(key).post('/engine/release')).status
  expect([await refused(READ_KEY), await refused(OTHER_KEY)]).toEqual([403, 403])
  expect(await readiness()).toMatchObject({ held: true })

  for (let i = 0; i < 2; i++)
    expect(await api.post('/engine/release')).toMatchObject({ status: 200, json: { held: false } })
  expect(await readiness()).toMatchObject({ status: 'ready' })
  await api.reaches(newId, 'succeeded')
  await api.reaches(napId, 'succeeded')
  await until(async () => {
    clock.jump(MINUTE)
    return (await api.get(`/runs/${doneId}`)).status === 404
  })
  expect(noted.filter(name => name === names.hourly)).toHaveLength(1)
  await until(() => destination.requests.length >= 3)
  expect((await api.get('/control-actions?action=engine.release')).json).toMatchObject([
    { actor: 'ops', action: 'engine.release' },
  ])
})

describe('as a command', () => {
  test('`perdure serve --hold` says that it is held, and `perdure engine release` releases it', async () => {
    const engine = await startEngine({ args: ['--hold'] })
    const name = unique('order')
    await engine.runner({ workflows: { [name]: flow([run('work', () => 1)]) } })
    const { runId } = await engine.api.send({ name })
    const url = ['--url', engine.url]
    expect((await perdure(['engines', ...url])).stdout).toContain('held')
    expect(await engine.api.get(`/runs/${runId}`)).toMatchObject({ json: { status: 'queued' } })
    expect(await perdure(['engine', 'release', ...url])).toMatchObject({ code: 0, stdout: /it now claims/ })
    await engine.api.reaches(runId, 'succeeded')
    expect((await engine.sigterm()).stdout).toContain('held: nothing is claimed')
  })
})
