// `POST /events?dryRun=1` reports what the same post would do, and does nothing (docs/events.md#dry-runs).

import type { DryRunReply } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { flow, gate, run, scenario, step, unique, wait } from '../../kit/index.ts'

const { api, workflow } = await scenario()

async function dryRun(body: Record<string, unknown>): Promise<DryRunReply> {
  const answer = await api.post('/events?dryRun=1', body)
  expect(answer.status, answer.text).toBe(200)
  return answer.json as DryRunReply
}

/** Registers a workflow of this name, triggered by events of the same name unless the registration says otherwise. */
async function serve(registration: Record<string, unknown> = {}, handler = flow([run('work')])) {
  const { name, app } = await workflow(handler, { registration })
  return { name, app }
}

test('stores nothing and starts nothing', async () => {
  const { name, app } = await serve()
  expect(await dryRun({ name, data: 1 })).toEqual({
    dryRun: true,
    waiters: 0,
    workflows: [{ workflow: name, app, trigger: { event: name }, matches: true, outcome: 'run', policies: {} }],
  })
  expect((await api.get(`/events?name=${name}`)).json).toEqual([])
  expect((await api.get(`/runs?q=${name}`)).json).toEqual([])
})

test('refuses what a post refuses', async () => {
  expect(await api.post('/events?dryRun=1', { name: ' ' })).toMatchObject({ status: 400 })
  expect(await api.post('/events?dryRun=1', { name: 'n'.repeat(257) })).toMatchObject({ status: 400 })
  expect(await api.post('/events?dryRun=maybe', { name: 'x' })).toMatchObject({ status: 400 })
  const refused = (field: string) => ({ status: 400, json: { error: { details: { field } } } })
  expect(await api.post('/events?dryRun=1', { name: 'x', delay: '367d' })).toMatchObject(refused('delay'))
  expect(await api.post('/events?dryRun=1', { name: 'x', at: '2999-01-01T00:00:00Z' })).toMatchObject(refused('at'))
  expect(await api.post('/events?dryRun=1&wait=1s', { name: 'x', delay: 1 })).toMatchObject(refused('wait'))
  expect((await api.post('/events?dryRun=1', { name: 'x', delay: '366d' })).status).toBe(200)
})

test('dryRun=0 posts', async () => {
  expect((await api.post('/events?dryRun=0', { name: unique('real') })).status).toBe(202)
})

describe('triggers', () => {
  test('a filter that is false, and one that cannot be evaluated, say so', async () => {
    const event = unique('order')
    const { name } = await serve({ triggers: [{ event, if: 'event.data.total > 10' }] })
    const of = async (data: unknown) => (await dryRun({ name: event, data })).workflows[0]
    expect(await of({ total: 11 })).toMatchObject({ workflow: name, matches: true, outcome: 'run' })
    const low = await of({ total: 9 })
    expect(low).toMatchObject({ matches: false, reason: 'the filter is false' })
    expect(low).not.toHaveProperty('outcome')
    expect(await of({})).toMatchObject({ matches: false, reason: expect.stringContaining('total') })
  })

  test('for a name without a trigger, names that are near are given', async () => {
    const event = unique('invoice-was-paid')
    await serve({ triggers: [{ event }, { event: `${event}.*` }] })
    expect(await dryRun({ name: `${event}x` })).toMatchObject({ workflows: [], nearest: [event] })
    expect(await dryRun({ name: event })).not.toHaveProperty('nearest')
    expect(await dryRun({ name: 'entirely different' })).not.toHaveProperty('nearest')
  })

  test('the trigger that matches is named, wildcard or not', async () => {
    const event = unique('order')
    const triggers = [{ event: `${event}.*`, if: 'false' }, { event: `${event}.placed` }]
    await serve({ triggers })
    expect((await dryRun({ name: `${event}.placed` })).workflows).toMatchObject([
      { matches: true, trigger: { event: `${event}.placed` } },
    ])
    expect((await dryRun({ name: `${event}.sent` })).workflows).toMatchObject([
      { matches: false, trigger: { event: `${event}.*`, if: 'false' } },
    ])
    expect((await dryRun({ name: event })).workflows).toEqual([])
  })
})

test('counts the waits it would wake, filters applied, and wakes none', async () => {
  const event = unique('paid')
  const filtered = step('WaitForEvent', 'mine', {
    eventName: event,
    timeoutMs: 60_000,
    if: 'async.data.id == event.data.id',
  })
  const { name } = await serve({}, flow([filtered]))
  const other = await serve({}, flow([wait('any', event)]))
  const runs = [
    await api.send({ name, data: { id: 1 } }),
    await api.send({ name, data: { id: 2 } }),
    await api.send({ name: other.name }),
  ]
  for (const { runId } of runs) await api.reaches(runId, 'waiting')
  expect(await dryRun({ name: event, data: { id: 2 } })).toMatchObject({ waiters: 2, waited: 3 })
  for (const { runId } of runs) expect((await api.run(runId)).status).toBe('waiting')
  expect((await api.send({ name: event, data: { id: 2 } })).woke).toBe(2)
})

test('knows a dedupe id that is taken, and takes none', async () => {
  const { name } = await serve()
  const body = { name, dedupeId: unique('d') }
  expect(await dryRun(body)).not.toHaveProperty('deduped')
  await api.send(body)
  expect(await dryRun(body)).toEqual({ dryRun: true, deduped: true, waiters: 0, workflows: [] })
})

describe('policies', () => {
  const outcomeOf = async (name: string, data?: unknown) => (await dryRun({ name, data })).workflows[0]

  test('every key is reported, and why one cannot be evaluated', async () => {
    const { name } = await serve({
      concurrency: [{ limit: 2, key: 'event.data.user' }],
      throttle: { limit: 1, period: '1m', key: 'event.data.missing' },
      priority: 'event.data.vip ? 10 : 0',
    })
    expect(await outcomeOf(name, { user: 'u1', vip: true })).toMatchObject({
      policies: {
        concurrency: [{ key: 'u1', limit: 2, scope: 'workflow' }],
        throttle: { key: '', error: expect.stringContaining('missing') },
        priority: { value: 10 },
      },
    })
  })

  test('idempotency: reported every time before the first post, deduped after it', async () => {
    const { name } = await serve({ idempotency: { key: 'event.data.id' } })
    for (let i = 0; i < 2; i++) expect(await outcomeOf(name, { id: 'a' })).toMatchObject({ outcome: 'run' })
    await api.send({ name, data: { id: 'a' } })
    expect(await outcomeOf(name, { id: 'a' })).toMatchObject({
      outcome: 'deduped',
      policies: { idempotency: { key: 'a' } },
    })
    expect(await outcomeOf(name, { id: 'b' })).toMatchObject({ outcome: 'run' })
  })

  test('singleton: what would be skipped, and which run it would cancel', async () => {
    for (const mode of ['skip', 'cancel']) {
      const open = gate()
      const { name } = await serve({ singleton: { mode } }, flow([run('work', () => open.opened)]))
      expect(await outcomeOf(name)).toMatchObject({ outcome: 'run' })
      const { runId } = await api.send({ name })
      await api.reaches(runId, 'running')
      const reported = await outcomeOf(name)
      if (mode === 'skip') expect(reported).toMatchObject({ outcome: 'skipped', policies: { singleton: { mode } } })
      else expect(reported).toMatchObject({ outcome: 'run', cancels: [runId] })
      expect((await api.run(runId)).status).toBe('running')
      open.open()
      await api.succeeded(runId)
    }
  })

  test('a rate limit is not used, so no dry run takes a token', async () => {
    const { name } = await serve({ rateLimit: { limit: 1, period: '1h' } })
    for (let i = 0; i < 3; i++) {
      expect(await outcomeOf(name)).toMatchObject({
        outcome: 'run',
        policies: { rateLimit: { verdict: 'not asked' } },
      })
    }
    expect((await api.send({ name })).triggered[0]).not.toHaveProperty('dropped')
  })

  test('debounce and batch are reported and nothing is buffered', async () => {
    const debounced = await serve({ debounce: { period: '10s', key: 'event.data.k' } })
    const batched = await serve({ batch: { maxSize: 3, timeout: '10s' } })
    for (let i = 0; i < 5; i++) {
      expect(await outcomeOf(debounced.name, { k: 1 })).toMatchObject({
        outcome: 'debounced',
        policies: { debounce: { key: '1' } },
      })
      expect(await outcomeOf(batched.name)).toMatchObject({ outcome: 'batched' })
    }
    const { runId } = (await api.send({ name: batched.name })).triggered[0] ?? {}
    expect(runId).toBeUndefined()
  })
})
