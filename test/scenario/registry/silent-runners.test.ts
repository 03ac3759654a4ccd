// The engine forgets runners that were silent for longer than a day (docs/wire-protocol.md#register).

import { describe, expect, test } from 'vitest'
import { flow, RunnerRecord, returned, run, scenario, unique, until, wait } from '../../kit/index.ts'
import { dial, dialAs } from '../../kit/runner/connect-client.ts'

const HOUR = 3_600_000
const { api, engine, clock } = await scenario()

const register = (app: string, fields: Record<string, unknown> = {}) =>
  api.post('/register', { app, url: 'http://127.0.0.1:9/', workflows: [{ name: `${app}-w` }], ...fields })
const runnersOf = async (app: string) =>
  ((await api.get(`/runners?app=${app}`)).json as { runnerId: string }[]).map(({ runnerId }) => runnerId).sort()
/** Makes the engine look for silent runners until `app` has only these. */
const untilRunnersAre = (app: string, expected: string[]) =>
  until(async () => {
    clock.jump(60_000)
    return JSON.stringify(await runnersOf(app)) === JSON.stringify(expected)
  })

test('those that went silent more than a day ago are forgotten, with and without an id; the others stay', async () => {
  const app = unique('app')
  for (let i = 0; i < 110; i++) await register(app, { url: `http://127.0.0.1:9/${i}` })
  await register(app, { runner: 'named' })
  await register(app, { runner: 'living' })
  clock.jump(20 * HOUR)
  await register(app, { runner: 'living' })
  expect(await runnersOf(app)).toHaveLength(112)
  clock.jump(5 * HOUR)
  await untilRunnersAre(app, ['living'])
  // The definition belongs to the app, not to the runner.
  expect((await api.get(`/workflows?app=${app}`)).json).toHaveLength(1)
  expect((await register(app, { runner: 'named' })).status).toBe(200)
  expect(await runnersOf(app)).toEqual(['living', 'named'])
})

test('one with a pinned run is forgotten once the run has ended', async () => {
  const [app, name, event] = [unique('app'), unique('w'), unique('go')]
  await engine.runner({
    app,
    runner: 'pinned',
    workflows: { [name]: flow([wait('w', event, 90 * 24 * HOUR), run('a', () => 1)]) },
  })
  const { runId } = await api.send({ name, app, runner: 'pinned' })
  await api.reaches(runId, 'waiting')
  await register(app, { runner: 'silent' })
  clock.jump(30 * HOUR)
  await untilRunnersAre(app, ['pinned'])
  await api.send({ name: event })
  await api.succeeded(runId)
  await untilRunnersAre(app, [])
})

describe('one that sleeps between invokes', () => {
  test('stays while no runner that was seen later serves its workflows', async () => {
    const app = unique('app')
    await register(app, { runner: 'one', sleeps: true })
    await register(app, { runner: 'plain' })
    clock.jump(30 * HOUR)
    await untilRunnersAre(app, ['one'])
    await register(app, { runner: 'two', sleeps: true })
    await untilRunnersAre(app, ['two'])
  })
})

test('a Connect runner that loses a socket after days keeps its id', async () => {
  const [app, name] = [unique('app'), unique('w')]
  const client = await dialAs(engine.url, { app, runner: 'wired', workflows: [name] })
  clock.jump(30 * HOUR)
  await until(async () => {
    clock.jump(60_000)
    return !client.isOpen || (await runnersOf(app)).length === 1
  })
  expect(client.isOpen).toBe(true)
  client.ws.close()
  await until(async () => (await runnersOf(app)).length === 0)
  for (let i = 0; i < 5; i++) {
    clock.jump(60_000)
    await api.get('/healthz')
  }
  // A run pinned to an unknown runner fails at once.
  const { runId } = await api.send({ name, app, runner: 'wired' })
  await api.reaches(runId, 'queued')
  const again = await dial(engine.url)
  again.serve({ [name]: () => returned() }, new RunnerRecord())
  await again.register({ app, runner: 'wired', workflows: [name] })
  await api.succeeded(runId)
})

test('a machine that slept for days forgets nobody: runners register again first', async () => {
  const [app, name] = [unique('app'), unique('w')]
  await engine.runner({ app, workflows: { [name]: () => returned() } })
  clock.jump(30 * 24 * HOUR)
  for (let i = 0; i < 3; i++) {
    clock.jump(60_000)
    expect(await runnersOf(app)).toHaveLength(1)
  }
  const { runId } = await api.send({ name })
  await api.succeeded(runId)
})
