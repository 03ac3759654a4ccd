// Erasing a run: afterwards no row of the database has a byte of its payloads (docs/concepts.md#erasing-a-run).

import { readFileSync } from 'node:fs'
import type { BulkDetail, ControlAction, EventRecord } from '@perdure/protocol'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import {
  flow,
  openDatabase,
  openEngine,
  openRunner,
  returned,
  run,
  STORES,
  step,
  unique,
  until,
  wait,
} from '../../kit/index.ts'

const CANARY = 'a-canary-of-the-payload'
/** The part of the payload that keys and attributes contain. */
const PART = CANARY.slice(0, 20)
const KEY = 'secret-key-of-erasure'
const keys = JSON.stringify([{ label: 'ops', namespace: 'default', kind: 'secret', key: KEY }])
/** Keys that are part of the payload. */
const KEYED = {
  attributes: { part: 'event.data.substring(0, 20)' },
  concurrency: { limit: 5, key: 'event.data.substring(0, 20)' },
  throttle: { limit: 100, period: '1m', key: 'event.data.substring(0, 20)' },
  singleton: { key: 'event.data.substring(0, 20) + (event.data == "live" ? "l" : "")', mode: 'skip' },
}
/** Another workflow of the event, whose run starts when its buffer is flushed. */
const COLLECTED = {
  idempotency: { key: 'event.data.substring(0, 20)' },
  batch: { maxSize: 9, timeout: '1h', key: 'event.data.substring(0, 20)' },
}

test.each(STORES)('erases every payload of a finished run, on %s', async (kind, freshStore) => {
  const storeFile = await freshStore()
  const engine = await openEngine({ storeFile, env: { ENGINE_QUEUE: 'memory', ENGINE_API_KEYS: keys } })
  const api = engine.api.as(KEY)
  const name = unique('erased')
  const sent = step('Webhook', 'tell', { webhookUrl: 'http://127.0.0.1:9/', data: CANARY })
  const never = wait('w', `never-${name}`)
  const log = { level: 'info', message: CANARY, fields: { [CANARY]: CANARY }, attempt: 1, index: 0 }
  const runner = await openRunner({
    workflows: {
      [name]: {
        handler: async (invoke, record) => {
          const isLive = invoke.event.data === 'live'
          const reply = await flow([run('a', () => CANARY), isLive ? never : sent], () => CANARY)(invoke, record)
          if (typeof reply === 'function') return reply
          const body = { ...(reply.body as object), logs: [log], progress: CANARY, attributes: { set: CANARY } }
          return { ...reply, body }
        },
        registration: KEYED,
      },
      [`${name}-collected`]: { handler: flow([run('a', () => CANARY)]), registration: COLLECTED },
      [`${name}-unmet`]: {
        handler: flow([]),
        registration: {
          triggers: [{ event: `${name}-collected`, if: 'duration(event.data) > duration("1s")' }],
        },
      },
      [`${name}-fails`]: () => ({ status: 400, body: { error: { message: CANARY, stack: CANARY }, logs: [] } }),
    },
  })
  await runner.register(api, { features: ['attributes'] })
  const endpoint = { url: 'http://127.0.0.1:9/', eventKinds: ['run.failed', 'run.succeeded'], app: runner.app }
  expect((await api.post('/webhook-endpoints', endpoint)).status).toBe(201)
  const live = await api.send({ name, app: runner.app, data: 'live' })
  await api.reaches(live.runId, 'waiting')
  expect(await api.request('DELETE', `/runs/${live.runId}`)).toMatchObject({ status: 409, code: 'run_not_finished' })

  // Too long for a row, so that it is stored outside of the row.
  const attributes = { given: CANARY }
  const { runId, eventId } = await api.send({ name, app: runner.app, data: CANARY.repeat(1000), attributes })
  await api.succeeded(runId)
  const fork = ((await api.post(`/runs/${runId}/replay`)).json as { id: string }).id
  await api.succeeded(fork)
  const between = ((await api.post(`/runs/${fork}/replay`)).json as { id: string }).id
  await api.succeeded(between)
  const last = ((await api.post(`/runs/${between}/replay`)).json as { id: string }).id
  await api.succeeded(last)
  const event = async () => (await api.get(`/events/${eventId}`)).json as EventRecord & { erased?: boolean }
  expect((await api.request('DELETE', `/runs/${runId}`)).status).toBe(204)
  expect((await api.get(`/runs/${runId}`)).status).toBe(404)
  // The link to its source disappears with the run in between, and the last fork still has the event.
  for (const id of [between, fork]) expect((await api.request('DELETE', `/runs/${id}`)).status).toBe(204)
  expect((await event()).data).toContain(CANARY)
  expect((await api.request('DELETE', `/runs/${last}`)).status).toBe(204)
  expect(await event()).toMatchObject({ erased: true, triggered: [{ runId }] })
  expect(await event()).not.toHaveProperty('data')
  expect((await api.request('DELETE', `/runs/${fork}`)).status).toBe(404)
  const entries = (await api.get('/control-actions?action=run.erase')).json as ControlAction[]
  expect(entries.map(entry => entry.runId)).toEqual([last, fork, between, runId])

  const failed = await api.send({ name: `${name}-fails`, app: runner.app, data: CANARY })
  expect((await api.failed(failed.runId)).error?.message).toBe(CANARY)
  await until(async () => (await api.get('/webhook-deliveries?eventKind=run.failed')).text.includes(failed.runId))
  expect((await api.request('DELETE', `/runs/${failed.runId}`)).status).toBe(204)

  // Keys, the reason of a filter and the input of a bulk replay are stored outside the runs, and contain parts of the payload.
  const collected = await api.send({ name: `${name}-collected`, app: runner.app, data: CANARY })
  const why = (await api.get(`/events/${collected.eventId}/why`)).text
  expect(why).toContain('could not be evaluated')
  const [buffer] = (await api.get(`/buffers?workflow=${name}-collected`)).json as { id: string; key: string }[]
  expect(buffer?.key).toBe(PART)
  const flushed = ((await api.post(`/buffers/${buffer?.id}/flush`)).json as { runId: string }).runId
  await api.succeeded(flushed)
  const bulk = { action: 'replay', ids: [flushed], input: CANARY }
  const { bulkId } = (await api.post('/bulk', bulk)).json as { bulkId: string }
  const { results } = await until(async () => {
    const job = (await api.get(`/bulk/${bulkId}`)).json as BulkDetail
    return job.status === 'done' && job
  })
  const replayed = results[0]?.newRunId as string
  expect(await api.succeeded(replayed)).toMatchObject({ input: CANARY })
  for (const id of [replayed, flushed]) expect((await api.request('DELETE', `/runs/${id}`)).status).toBe(204)
  expect((await api.get(`/events/${collected.eventId}`)).json).toMatchObject({ erased: true })

  // The live run has a step with the canary in its result.
  expect((await api.post(`/runs/${live.runId}/cancel`)).status).toBe(200)
  expect((await api.request('DELETE', `/runs/${live.runId}`)).status).toBe(204)
  await engine.stop()
  expect(await textOf(kind, storeFile)).not.toContain(PART)
})

describe.each(STORES)('an event keeps its data while a run has it, on %s', async (kind, freshStore) => {
  const storeFile = await freshStore()
  const engine = await openEngine({ storeFile, env: { ENGINE_QUEUE: 'memory' } })
  const { api } = engine
  const erase = async (id: string) => expect((await api.request('DELETE', `/runs/${id}`)).status).toBe(204)
  const dataOf = (ids: readonly string[]) =>
    Promise.all(ids.map(async id => ((await api.get(`/events/${id}`)).json as EventRecord).data))

  test('after a failure', async () => {
    const name = unique('failing')
    const failing = { status: 400, body: { error: { message: 'no' }, logs: [] } }
    await engine.runner({
      workflows: {
        [name]: {
          handler: ({ ctx }) => (ctx.onFailure ? returned() : failing),
          registration: { onFailure: true },
        },
      },
    })
    const { runId, eventId } = await api.send({ name, data: CANARY })
    await api.failed(runId)
    const [after] = await until(async () => {
      const runs = await api.runs(`?parentRunId=${runId}&status=succeeded`)
      return runs.length > 0 && runs
    })
    await erase(runId)
    expect(await dataOf([eventId])).toEqual([CANARY])
    await erase(after?.id as string)
    expect(await dataOf([eventId])).toEqual([undefined])
  })

  test('in a batch, anywhere in it, and in a fork of the batch', async () => {
    const name = unique('packed')
    const packed = (filter: string) => ({
      handler: flow([]),
      registration: { triggers: [{ event: name, if: filter }], batch: { maxSize: 9, timeout: '1h' } },
    })
    await engine.runner({
      workflows: {
        [`${name}-one`]: {
          handler: flow([]),
          registration: { triggers: [{ event: name, if: 'event.data.startsWith("a-")' }] },
        },
        [`${name}-all`]: packed('true'),
        // Both batches begin with the second event.
        [`${name}-most`]: packed('event.data != "first"'),
        [`${name}-some`]: packed('event.data in ["second", "last"]'),
      },
    })
    const data = ['first', 'second', CANARY, 'last']
    const ids: string[] = []
    for (const each of data) ids.push((await api.send({ name, data: each })).eventId)
    const [single] = await api.runs(`?workflow=${name}-one`)
    await erase((await api.succeeded(single?.id as string)).id)
    expect(await dataOf(ids), 'buffers have all').toEqual(data)

    const buffers = (await api.get('/buffers')).json as { id: string; workflow: string }[]
    const runs: string[] = []
    for (const { id } of buffers.sort((a, b) => (a.workflow < b.workflow ? -1 : 1)))
      runs.push(((await api.post(`/buffers/${id}/flush`)).json as { runId: string }).runId)
    const [all, most, some] = runs as [string, string, string]
    for (const id of runs) await api.succeeded(id)
    const fork = ((await api.post(`/runs/${all}/replay`)).json as { id: string }).id
    expect((await api.succeeded(fork)).eventIds).toEqual(ids)
    const { triggered } = (await api.get(`/events/${ids[1]}`)).json as EventRecord
    expect(triggered.map(({ runId }) => runId).sort(), 'the fork is not the run of the batch').toEqual([...runs].sort())
    await erase(all)
    expect(await dataOf(ids), 'the fork has all').toEqual(data)
    await erase(fork)
    expect(await dataOf(ids), 'another batch has three').toEqual([undefined, 'second', CANARY, 'last'])
    await erase(most)
    expect(await dataOf(ids), 'the last batch has two').toEqual([undefined, 'second', undefined, 'last'])
    await erase(some)
    expect(await dataOf(ids)).toEqual([undefined, undefined, undefined, undefined])
    await engine.stop()
    expect(await textOf(kind, storeFile)).not.toContain(PART)
  })
})

/** Every byte of the database after its free pages were released; on PostgreSQL, every row. */
async function textOf(kind: 'sqlite' | 'postgres', storeFile: string): Promise<string> {
  if (kind === 'sqlite') {
    const database = await openDatabase(storeFile)
    database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
    return readFileSync(storeFile, 'latin1')
  }
  const client = new Client({ connectionString: storeFile })
  await client.connect()
  try {
    const { rows } = await client.query('SELECT tablename FROM pg_tables WHERE schemaname = current_schema()')
    const texts: unknown[] = []
    for (const { tablename } of rows) texts.push((await client.query(`SELECT t::text FROM "${tablename}" t`)).rows)
    return JSON.stringify(texts)
  } finally {
    await client.end()
  }
}
