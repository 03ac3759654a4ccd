// Runners of two versions at once, as during a rolling deployment: the newest registered definition of a workflow counts, and
// repeated registrations are heartbeats (docs/wire-protocol.md#definitions).

import type { RegisterReply } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { type Api, freshSchema, JumpClock, type OpenEngine, openEngine, unique } from '../../kit/index.ts'
import { dial } from '../../kit/runner/connect-client.ts'

/** Twice the heartbeat, and less than the time after which a runner is stale. */
const MINUTE = 60_000

/** An app whose runners register the workflow `w` with a trigger on an event of their version. */
function rollout() {
  const app = unique('app')
  const body = (runner: string, version: string, extra: object = {}) => ({
    app,
    runner,
    url: 'http://127.0.0.1:9/invoke',
    workflows: [{ name: 'w', triggers: [{ event: `${app}/${version}` }, { cron: '0 0 1 1 *' }], ...extra }],
  })
  return {
    app,
    body,
    async beats(api: Api, runner: string, version: string, extra?: object): Promise<void> {
      expect((await api.post('/register', body(runner, version, extra))).status).toBe(200)
    },
    /** The version whose event starts the workflow. */
    async counts(api: Api): Promise<string> {
      const [workflow] = (await api.get(`/workflows?app=${app}`)).json as { triggers: { event: string }[] }[]
      const [, version = ''] = workflow?.triggers[0]?.event.split('/') ?? []
      const { triggered } = await api.send({ name: `${app}/${version}`, app })
      expect(triggered).toMatchObject([{ workflow: 'w' }])
      return version
    },
  }
}

const clock = new JumpClock()
const { api } = await openEngine({ clock })

describe('a heartbeat of the old version', () => {
  test('does not replace the new definition', async () => {
    const { beats, counts } = rollout()
    await beats(api, 'old', 'v1')
    await beats(api, 'new', 'v2')
    for (let i = 0; i < 5; i++) {
      clock.jump(MINUTE)
      await beats(api, 'old', 'v1')
      expect(await counts(api)).toBe('v2')
      await beats(api, 'new', 'v2')
    }
  })

  test('does not replace it after a restart of the engine either, however long that took', async () => {
    const first = await openEngine({ onDisk: true, clock })
    const { beats, counts } = rollout()
    await beats(first.api, 'old', 'v1')
    await beats(first.api, 'new', 'v2')
    await first.stop()
    clock.jump(60 * MINUTE)
    const { api } = await openEngine({ clock, storeFile: first.storeFile })
    await beats(api, 'old', 'v1')
    expect(await counts(api)).toBe('v2')
  })

  test('does not replace it at another engine than that of the new version either', async () => {
    const env = { ENGINE_QUEUE: 'memory' }
    const one = await openEngine({ storeFile: await freshSchema(), env })
    const two = await openEngine({ storeFile: one.storeFile, env })
    const { beats, counts } = rollout()
    await beats(one.api, 'old', 'v1')
    await beats(two.api, 'new', 'v2')
    await beats(one.api, 'old', 'v1')
    await beats(two.api, 'old', 'v1')
    for (const { api } of [one, two] satisfies OpenEngine[]) expect(await counts(api)).toBe('v2')
  })

  test('counts again once the new version has gone, and not when that is back', async () => {
    const { beats, counts } = rollout()
    await beats(api, 'old', 'v1')
    await beats(api, 'new', 'v2')
    clock.jump(2 * MINUTE)
    expect(await counts(api)).toBe('v2')
    await beats(api, 'old', 'v1')
    expect(await counts(api)).toBe('v1')
    await beats(api, 'new', 'v2')
    await beats(api, 'old', 'v1')
    expect(await counts(api)).toBe('v2')
  })
})

test('a runner that dials in again does not replace it either', async () => {
  // The engine gives an open socket time by its clock to leave, so that clock must advance.
  const { api, url } = await openEngine()
  const { body, counts } = rollout()
  const dialIn = async (runner: string, version: string) => {
    const client = await dial(url)
    client.send('runner.register', body(runner, version))
    await client.next('runner.registered')
    return client
  }
  const old = await dialIn('old', 'v1')
  await dialIn('new', 'v2')
  old.ws.close()
  await dialIn('old', 'v1')
  expect(await counts(api)).toBe('v2')
})

test('a changed registration is the newest: a deployment that is rolled back', async () => {
  const { app, beats, counts } = rollout()
  await beats(api, 'one', 'v1')
  await beats(api, 'two', 'v1')
  await beats(api, 'one', 'v2')
  await beats(api, 'two', 'v1')
  expect(await counts(api)).toBe('v2')
  await beats(api, 'one', 'v1')
  expect(await counts(api)).toBe('v1')
  await beats(api, 'two', 'v1', { retry: { maxAttempts: 2 } })
  await beats(api, 'one', 'v1')
  expect((await api.get(`/workflows?app=${app}`)).json).toMatchObject([{ retry: { maxAttempts: 2 } }])
})

describe('the answer to a registration warns', () => {
  test('of a live runner with another definition, until that has left', async () => {
    const { body, beats } = rollout()
    await beats(api, 'old', 'v1', { version: '1.4' })
    const warnings = async () => ((await api.post('/register', body('new', 'v2'))).json as RegisterReply).warnings
    expect(await warnings()).toEqual([expect.stringContaining('runner "old" has another definition of "w"')])
    await api.post('/register', { ...body('old', 'v1'), leaving: true })
    expect(await warnings()).toEqual([])
  })

  test('of an app that nobody serves any more and whose workflow starts at the same event', async () => {
    const { app, body, beats } = rollout()
    await beats(api, 'old', 'v1')
    const renamed = { ...body('new', 'v1'), app: unique('app') }
    const warnings = async () => ((await api.post('/register', renamed)).json as RegisterReply).warnings
    expect(await warnings()).toEqual([])
    await api.post('/register', { ...body('old', 'v1'), leaving: true })
    expect(await warnings()).toEqual([expect.stringContaining(`delete it: perdure apps delete ${app}`)])
  })
})
