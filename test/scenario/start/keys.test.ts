// Direct starts with a key: among the live runs of one workflow a key occurs once (docs/concepts.md#one-live-run-per-key).

import type { RunSummary, StartedRun } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { child, flow, type Handler, scenario, unique, until, wait } from '../../kit/index.ts'

const { api, engine } = await scenario()

interface Body {
  key?: string
  ifRunning?: string
  runId?: string
  input?: unknown
  dryRun?: boolean
}

/** A workflow whose runs wait for the event `go`, with functions that start and end them. */
async function opened(registration: Record<string, unknown> = {}) {
  const [name, go] = [unique('keyed'), unique('go')]
  const handlers = { [name]: { handler: flow([wait('hold', go)]), registration } }
  const { app } = await engine.runner({ workflows: handlers })
  const path = `/workflows/${app}/${name}/runs`
  const post = (body: Body) => api.post(path, body)
  return {
    name,
    app,
    post,
    async start(body: Body): Promise<StartedRun> {
      const { status, json } = await post(body)
      expect({ status, json }).toMatchObject({ status: (json as StartedRun).existing ? 200 : 201 })
      return json as StartedRun
    },
    refused: async (body: Body) => {
      const { status, json } = await post(body)
      return { status, error: (json as { error?: { code: string; details?: object } }).error }
    },
    end: async (id: string) => {
      await api.post('/events', { name: go })
      await api.succeeded(id)
    },
    withKey: async (key: string) =>
      (await api.get(`/runs?key=${encodeURIComponent(key)}&workflow=${name}`)).json as RunSummary[],
  }
}

test('use, the default: the live run is answered, and after its end the key is free again', async () => {
  const { start, end, withKey } = await opened()
  const key = unique('account')
  const first = await start({ key, input: 1 })
  expect(first).toMatchObject({ key })
  expect(first).not.toHaveProperty('existing')
  for (const ifRunning of [undefined, 'use'])
    expect(await start({ key, input: 2, ...(ifRunning && { ifRunning }) })).toMatchObject({
      id: first.id,
      existing: true,
    })
  await end(first.id)
  const second = await start({ key })
  expect(second).not.toHaveProperty('existing')
  expect((await withKey(key)).map(({ id }) => id)).toEqual([second.id, first.id])
  expect(await api.run(first.id)).toMatchObject({ key, input: 1 })
})

test('refuse: 409 with the live run; also when the run is paused', async () => {
  const { start, refused } = await opened()
  const { id } = await start({ key: 'a', ifRunning: 'refuse' })
  const refusal = { status: 409, error: { code: 'already_running', details: { runId: id } } }
  expect(await refused({ key: 'a', ifRunning: 'refuse' })).toMatchObject(refusal)
  await api.post(`/runs/${id}/pause`)
  expect(await refused({ key: 'a', ifRunning: 'refuse' })).toMatchObject(refusal)
  await api.post(`/runs/${id}/cancel`)
  expect((await start({ key: 'a', ifRunning: 'refuse' })).id).not.toBe(id)
})

test('cancel: the live run is cancelled when the answer comes, and the new one has started', async () => {
  const { start, withKey } = await opened()
  const key = unique('account')
  const old = await start({ key })
  const next = await start({ key, ifRunning: 'cancel' })
  expect((await withKey(key)).map(({ id, status }) => [id, status === 'cancelled'])).toEqual([
    [next.id, false],
    [old.id, true],
  ])
  expect(await start({ key })).toMatchObject({ id: next.id, existing: true })
})

test('a key is of one workflow: others, and starts without a key, are not held up', async () => {
  const [one, two] = [await opened(), await opened()]
  const runs = [
    await one.start({ key: 'a' }),
    await two.start({ key: 'a' }),
    await one.start({ key: 'b' }),
    await one.start({}),
  ]
  expect(new Set(runs.map(({ id }) => id)).size).toBe(4)
  expect(runs[3]).not.toHaveProperty('key')
})

test('the id is looked at before the key', async () => {
  const { start, refused, post } = await opened()
  const runId = `run_${unique('order-given')}`
  const byId = await start({ runId, key: 'a' })
  const other = await start({ key: 'b' })
  for (const ifRunning of ['use', 'refuse', 'cancel'])
    expect(await start({ runId, key: 'b', ifRunning })).toMatchObject({ id: byId.id, existing: true })
  expect(await api.run(other.id)).toMatchObject({ status: expect.not.stringContaining('cancelled') })
  expect(await start({ runId: `run_${unique('another-one')}`, key: 'a' })).toMatchObject({
    id: byId.id,
    existing: true,
  })
  // Simultaneous starts with the same id and key are repeats of each other; none is refused.
  const same = { runId: `run_${unique('raced-given')}`, key: 'c', ifRunning: 'refuse' }
  const answers = await Promise.all([1, 2, 3, 4].map(() => post(same)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201])
  expect((await refused({ key: 'c', ifRunning: 'refuse' })).status).toBe(409)
})

test('the key is kept over continueAs, and no fork, child or on-failure run has it', async () => {
  const kid = unique('kid')
  const go = unique('next')
  const handler: Handler = (invoke, ...more) => {
    const left = (invoke.event.data as { left: number }).left
    if (left === 0) return flow([child('kid', kid), wait('hold', go)])(invoke, ...more)
    return { status: 200, body: { continueAs: { data: { left: left - 1 } }, logs: [] } }
  }
  const [name, key] = [unique('chained'), unique('account')]
  const runner = await engine.runner({ workflows: { [name]: handler, [kid]: flow([wait('hold', go)]) } })
  await runner.register(api, { features: ['continue-as'] })
  const path = `/workflows/${runner.app}/${name}/runs`
  const first = (await api.post(path, { key, input: { left: 2 } })).json as StartedRun
  const last = await until(async () => {
    const { json } = await api.post(path, { key, input: { left: 0 } })
    const { id, existing } = json as StartedRun
    expect(existing).toBe(true)
    return id !== first.id && (await api.run(id)).status === 'waiting' && id
  })
  const kids = (await api.get(`/runs?parentRunId=${last}`)).json as RunSummary[]
  expect(kids[0]).toMatchObject({ workflow: kid })
  expect(kids[0]).not.toHaveProperty('key')
  await api.post(`/runs/${last}/cancel`)
  const fork = (await api.post(`/runs/${last}/replay`)).json as { id: string }
  expect(await api.run(fork.id)).not.toHaveProperty('key')
  expect(((await api.get(`/runs?key=${key}`)).json as RunSummary[]).map(({ status }) => status).sort()).toEqual([
    'cancelled',
    'succeeded',
    'succeeded',
  ])
  expect((await api.post(path, { key, input: { left: 0 } })).status).toBe(201)
})

test('a singleton counts beside the key: the key is looked at first', async () => {
  const { start, refused } = await opened({ singleton: { mode: 'skip' } })
  const live = await start({ key: 'a' })
  expect(await start({ key: 'a' })).toMatchObject({ id: live.id, existing: true })
  const skipped = { code: 'already_running', details: { liveRunId: live.id } }
  expect(await refused({ key: 'b', ifRunning: 'cancel' })).toMatchObject({ status: 409, error: skipped })
  // The start cancels the live run of the singleton by its key.
  const next = await start({ key: 'a', ifRunning: 'cancel' })
  expect(await api.run(live.id)).toMatchObject({ status: 'cancelled' })
  expect(await refused({})).toMatchObject({ error: { details: { liveRunId: next.id } } })
})

test('a dry run says what the start would do, and changes nothing', async () => {
  const { start, post, withKey } = await opened()
  const key = unique('account')
  const preview = async (ifRunning?: string) =>
    (await post({ key, dryRun: true, ...(ifRunning && { ifRunning }) })).json
  expect(await preview()).toMatchObject({ outcome: 'run' })
  const { id } = await start({ key })
  expect(await preview()).toMatchObject({ outcome: 'repeat', run: { id } })
  expect(await preview('refuse')).toMatchObject({ outcome: 'skipped', liveRunId: id })
  expect(await preview('cancel')).toMatchObject({ outcome: 'run' })
  expect(await withKey(key)).toMatchObject([{ id, status: expect.not.stringContaining('cancelled') }])
})

test('a key that cannot be used is refused, with the field', async () => {
  const { refused } = await opened()
  for (const [body, field] of [
    [{ key: '' }, 'key'],
    [{ key: 'k'.repeat(257) }, 'key'],
    [{ key: 'a', ifRunning: 'queue' }, 'ifRunning'],
    [{ ifRunning: 'use' }, 'ifRunning'],
  ] as const)
    expect(await refused(body)).toMatchObject({ status: 400, error: { code: 'invalid_request', details: { field } } })
})
