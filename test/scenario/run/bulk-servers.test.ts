// Bulk actions on both databases: what a dry run counts, what a job does to each run, once, whichever engine processes it
// (docs/concepts.md#many-runs-at-once).

import type { Bulk, BulkDetail, BulkPreview, BulkRequest, ControlAction, RunStatus } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { seedRuns } from '../../kit/engine/seed-runs.ts'
import {
  type Api,
  EngineProcess,
  flow,
  freshSchema,
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

const KEY = 'secret-key-of-ops'
const keys = JSON.stringify([{ label: 'ops', namespace: 'default', kind: 'secret', key: KEY }])
const env = { ENGINE_API_KEYS: keys, ENGINE_QUEUE: 'memory' }
type BulkFilter = NonNullable<BulkRequest['filter']>

/** Two slices of a job. */
const RUNS = 90

describe.each(STORES)('on %s', async (_, freshStore) => {
  const engine = await openEngine({ storeFile: await freshStore(), env })
  const api = engine.api.as(KEY)

  /** An app whose workflow follows the event's data: returns, fails in its second step, or waits forever. */
  async function openApp() {
    const name = unique('many')
    const failing = step('StepRun', 'charge', { error: { message: 'declined' }, retriable: false })
    const runner = await openRunner({
      runner: unique('r'),
      workflows: {
        [name]: (invoke, record) => {
          const second = { fail: failing, wait: wait('w', `never-${name}`) }[invoke.event.data as string]
          return flow([run('a'), ...(second ? [second] : [])])(invoke, record)
        },
      },
    })
    await runner.register(api)
    const start = async (data: string, status: RunStatus, attributes = {}) => {
      const { runId } = await api.send({ name, app: runner.app, data, attributes })
      await api.reaches(runId, status)
      return runId
    }
    return { app: runner.app, name, runner: runner.runner as string, record: runner.record, start }
  }

  const bulk = async (body: object) => {
    const answer = await api.post('/bulk', body)
    expect(answer.status, answer.text).toBe(202)
    return (answer.json as { bulkId: string }).bulkId
  }
  const read = async (id: string, query = '') => (await api.get(`/bulk/${id}${query}`)).json as BulkDetail
  const ended = (id: string) =>
    until(async () => (await read(id)).status !== 'running' && read(id), { what: 'the end of the job' })
  const preview = async (body: object) => (await api.post('/bulk', { ...body, dryRun: true })).json as BulkPreview
  const forksOf = async (app: string) =>
    (await api.runs(`?app=${app}&limit=200`)).filter(({ replayOf }) => replayOf !== undefined)

  test('a dry run counts what the job then does, and changes nothing', async () => {
    const { app, start } = await openApp()
    const waiting = [await start('wait', 'waiting'), await start('wait', 'waiting')]
    await start('', 'succeeded')
    const failed = await start('fail', 'failed')
    const wanted = { action: 'cancel', filter: { app } }
    const counted = await preview(wanted)
    expect(counted).toMatchObject({ matched: 4, eligible: 2, skipped: 2 })
    expect(counted.sample.map(({ id }) => id)).toEqual(waiting.toReversed())
    expect((await api.runs(`?app=${app}&status=waiting`)).length).toBe(2)
    const retry = { action: 'retry-failed-step', filter: { app } }
    expect(await preview(retry)).toMatchObject({ matched: 4, eligible: 1, skipped: 3, sample: [{ id: failed }] })

    const done = await ended(await bulk(wanted))
    expect(done).toMatchObject({ status: 'done', matched: 4, done: 2, skipped: 2, failed: 0, actor: 'ops' })
    for (const id of waiting) expect((await api.run(id)).status).toBe('cancelled')
    expect(done.results.find(({ runId }) => runId === failed)).toMatchObject({
      outcome: 'skipped',
      error: expect.stringContaining('failed'),
    })
    const skipped = (await read(done.id, '?outcome=skipped&limit=1')) as BulkDetail
    const rest = await read(done.id, `?outcome=skipped&cursor=${skipped.nextCursor}`)
    expect([...skipped.results, ...rest.results].map(({ outcome }) => outcome)).toEqual(['skipped', 'skipped'])
    expect((await read(done.id, '?outcome=failed')).results).toEqual([])
    const [entry, ...others] = (await api.get('/control-actions?action=bulk.cancel')).json as ControlAction[]
    expect(others).toEqual([])
    expect(entry).toMatchObject({
      actor: 'ops',
      detail: { bulkId: done.id, matched: 4, done: 2, skipped: 2, failed: 0 },
    })
  })

  test('attributes select the runs that have all of them, in a dry run and in a job', async () => {
    const { start, name } = await openApp()
    const marked = (plan: string) => ({ of: name, plan })
    const pro = [await start('wait', 'waiting', marked('pro')), await start('wait', 'waiting', marked('pro'))]
    await start('wait', 'waiting', marked('free'))
    await start('', 'succeeded', marked('pro'))
    const wanted = { action: 'cancel', filter: { attribute: [`of:${name}`, 'plan:pro'] } }
    const counted = await preview(wanted)
    expect(counted).toMatchObject({ matched: 3, eligible: 2, skipped: 1 })
    expect(counted.sample.map(({ id }) => id)).toEqual(pro.toReversed())
    expect(await preview({ action: 'cancel', filter: { attribute: `of:${name}` } })).toMatchObject({ matched: 4 })
    const both = { attribute: [`of:${name}`, 'plan:pro', 'plan:free'] }
    expect(await preview({ action: 'cancel', filter: both })).toMatchObject({ matched: 0 })
    const done = await ended(await bulk(wanted))
    expect(done).toMatchObject({ matched: 3, done: 2, skipped: 1, filter: wanted.filter })
    for (const id of pro) expect((await api.run(id)).status).toBe('cancelled')
  })

  test('every other filter of the list selects the runs that the list shows', async () => {
    const { app, name, runner, start } = await openApp()
    const waiting = [await start('wait', 'waiting'), await start('wait', 'waiting')]
    const noted = await start('Note of Ada', 'succeeded')
    const failed = await start('fail', 'failed')
    const fork = (await api.post(`/runs/${failed}/replay`)).json as { id: string }
    await api.failed(fork.id)
    const { eventId } = await api.send({ name, app, runner, data: 'wait' })
    await until(async () => (await api.runs(`?runner=${runner}&status=waiting`)).length === 1)
    const filters: [BulkFilter, number][] = [
      [{ app, q: name.toUpperCase() }, 6],
      [{ app, q: 'note of' }, 0],
      [{ app, q: 'note of', deep: true }, 1],
      [{ app, waitingFor: 'event' }, 3],
      [{ app, waitingFor: 'event', status: 'failed' }, 0],
      [{ app, workflow: `${name.slice(0, -2)}*` }, 6],
      [{ app, workflow: `${name}-none-*` }, 0],
      [{ app, runner }, 1],
      [{ eventId: eventId as string }, 1],
      [{ replayOf: failed }, 1],
    ]
    for (const [filter, matched] of filters) {
      const { deep, ...texts } = filter
      const query = new URLSearchParams({ ...(texts as Record<string, string>), ...(deep && { deep: '1' }) })
      expect(await preview({ action: 'replay', filter }), `${query}`).toMatchObject({ matched })
      expect((await api.runs(`?${query}`)).length, `${query}`).toBe(matched)
    }
    const job = async (action: string, filter: BulkFilter) => {
      const done = await ended(await bulk({ action, filter }))
      expect(done.filter).toEqual(filter)
      return done
    }
    const replayed = await job('replay', { app, q: 'NOTE of', deep: true })
    expect(replayed.results.map(({ runId }) => runId)).toEqual([noted])
    expect(await job('cancel', { workflow: `${name}-none-*` })).toMatchObject({ matched: 0, done: 0 })
    const cancelled = await job('cancel', { app, workflow: `${name}*`, waitingFor: 'event' })
    expect(cancelled).toMatchObject({ matched: 3, done: 3, skipped: 0 })
    for (const id of waiting) expect((await api.run(id)).status).toBe('cancelled')
    const [entry] = (await api.get('/control-actions?action=bulk.cancel&limit=1')).json as ControlAction[]
    expect(entry?.detail).toMatchObject({ filter: { app, workflow: `${name}*`, waitingFor: 'event' }, done: 3 })
  })

  test('a replay says how many were replayed before, and what became of the new runs', async () => {
    const { app, start } = await openApp()
    const failed = [await start('fail', 'failed'), await start('fail', 'failed')]
    await start('', 'succeeded')
    const wanted = { action: 'replay', filter: { app, status: 'failed', endedSince: '2020-01-01T00:00:00.000Z' } }
    expect(await preview(wanted)).toMatchObject({ eligible: 2, replayed: 0 })
    expect(await preview({ ...wanted, filter: { app, endedUntil: '2020-01-01T00:00:00Z' } })).toMatchObject({
      matched: 0,
    })
    const job = await ended(await bulk(wanted))
    expect(job.filter).toEqual({ ...wanted.filter, status: ['failed'] })
    const made = await until(async () => {
      const { newRuns } = await read(job.id)
      return newRuns?.failed === 2 && newRuns
    })
    expect(made).toEqual({ queued: 0, running: 0, waiting: 0, paused: 0, succeeded: 0, failed: 2, cancelled: 0 })
    const listed = await api.runs(`?bulkId=${job.id}&status=failed`)
    expect(listed.map(({ replayOf }) => replayOf).sort()).toEqual(failed.toSorted())
    expect(await preview(wanted)).toMatchObject({ eligible: 4, replayed: 2 })
    for (const by of [{ filter: wanted.filter }, { ids: failed }])
      expect(await preview({ action: 'retry-failed-step', ...by })).toMatchObject({ replayed: 2 })
    const cancelling = { action: 'cancel', filter: { app } }
    expect(await preview(cancelling)).not.toHaveProperty('replayed')
    expect(await read(await bulk(cancelling))).not.toHaveProperty('newRuns')
  })

  test('pause and resume by ids: an id counts once, an unknown one is skipped', async () => {
    const { start } = await openApp()
    const ids = [await start('wait', 'waiting'), await start('wait', 'waiting')]
    const given = [...ids, ...ids, 'run_unknown']
    expect(await preview({ action: 'pause', ids: given })).toMatchObject({ matched: 3, eligible: 2, skipped: 1 })
    expect(await ended(await bulk({ action: 'pause', ids: given }))).toMatchObject({ matched: 3, done: 2, skipped: 1 })
    for (const id of ids) expect((await api.run(id)).status).toBe('paused')
    expect(await ended(await bulk({ action: 'resume', ids }))).toMatchObject({ matched: 2, done: 2 })
    for (const id of ids) await api.reaches(id, 'waiting')
  })

  test('a dry run counts an id once, however far its repeat is from it', async () => {
    const { start } = await openApp()
    const [one, other] = [await start('wait', 'waiting'), await start('wait', 'waiting')]
    const unknown = Array.from({ length: 250 }, (_, n) => `run_unknown${n}`)
    const counted = await preview({ action: 'cancel', ids: [one, ...unknown, one, other] })
    expect(counted).toMatchObject({ matched: 252, eligible: 2, skipped: 250 })
    expect(counted.sample.map(({ id }) => id).sort()).toEqual([one, other].sort())
  })

  test('replay forks each finished run with the input; a retry keeps the steps before the one that failed', async () => {
    const { app, record, start } = await openApp()
    const failed = [await start('fail', 'failed'), await start('fail', 'failed')]
    const job = await ended(await bulk({ action: 'replay', filter: { app, status: 'failed' }, input: 'again' }))
    const made = await forksOf(app)
    expect(job).toMatchObject({ matched: 2, done: 2 })
    expect(job.results.map(({ runId, newRunId }) => [runId, newRunId]).sort()).toEqual(
      made.map(({ id, replayOf }) => [replayOf, id]).sort(),
    )
    for (const { id } of made) expect(await api.succeeded(id)).toMatchObject({ input: 'again' })

    const [one] = failed as [string, string]
    const { results } = await ended(await bulk({ action: 'retry-failed-step', ids: [one, made[0]?.id] }))
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(['done', 'skipped'])
    const retried = results.find(({ runId }) => runId === one)?.newRunId as string
    await api.failed(retried)
    expect(record.names(retried)).toEqual(['charge'])
  })

  test('bad input names the field', async () => {
    const bad: [object, string][] = [
      [{ action: 'cancel' }, 'filter'],
      [{ action: 'cancel', filter: {} }, 'filter'],
      [{ action: 'cancel', filter: { app: 'a' }, ids: ['run_1'] }, 'filter'],
      [{ action: 'cancel', filter: { ap: 'a' } }, 'filter.ap'],
      [{ action: 'cancel', filter: { status: 'gone' } }, 'filter.status'],
      [{ action: 'cancel', filter: { attribute: 'plan' } }, 'filter.attribute'],
      [{ action: 'cancel', filter: { attribute: [] } }, 'filter.attribute'],
      [{ action: 'cancel', filter: { waitingFor: 'rain' } }, 'filter.waitingFor'],
      [{ action: 'cancel', filter: { q: '' } }, 'filter.q'],
      [{ action: 'cancel', filter: { q: 'x'.repeat(257) } }, 'filter.q'],
      [{ action: 'cancel', filter: { app: 'a', deep: true } }, 'filter.deep'],
      [{ action: 'cancel', ids: [] }, 'ids'],
      [{ action: 'cancel', ids: Array(1001).fill('run_1') }, 'ids'],
      [{ action: 'cancel', ids: ['run_1'], input: 1 }, 'input'],
      [{ action: 'explode', ids: ['run_1'] }, 'action'],
    ]
    for (const [body, field] of bad) {
      const { status, json } = await api.post('/bulk', body)
      expect([status, (json as { error: { details: object } }).error], JSON.stringify(body)).toMatchObject([
        400,
        { code: 'invalid_request', details: { field } },
      ])
    }
    expect((await api.get('/bulk/blk_unknown')).status).toBe(404)
    expect((await api.post('/bulk/blk_unknown/stop')).status).toBe(404)
  })
})

const OPENERS = {
  'is killed': async () => {
    const process = await new EngineProcess({ env }).start()
    return { api: process.api.as(KEY), again: async () => (await process.restart()).api.as(KEY) }
  },
  'leaves a shared database': async () => {
    const storeFile = await freshSchema()
    const engine = await openEngine({ storeFile, env })
    const again = async () => {
      await engine.stop()
      return (await openEngine({ storeFile, env })).api.as(KEY)
    }
    return { api: engine.api.as(KEY), again }
  },
}

test.each(Object.entries(OPENERS))(
  'a job goes on when its engine %s, and no run is forked twice; a stop ends it',
  async (_, open) => {
    const { api, again } = await open()
    const name = unique('many')
    const runner = await openRunner({ workflows: { [name]: () => returned() } })
    await runner.register(api)
    const body = JSON.stringify({ name, app: runner.app })
    await Promise.all(Array.from({ length: RUNS }, () => api.postText('/events', body)))
    await until(async () => (await api.get(`/runs?app=${runner.app}&status=queued,running&limit=1`)).text === '[]')
    const begin = async (at: Api) =>
      (
        (await at.post('/bulk', { action: 'replay', filter: { workflow: `${name}*`, q: name } })).json as {
          bulkId: string
        }
      ).bulkId
    const startedWith = async (at: Api) =>
      ((await at.get('/control-actions?action=bulk.replay&limit=1')).json as ControlAction[])[0]?.detail
    const bulkId = await begin(api)
    const progress = async (at: Api) => (await at.get(`/bulk/${bulkId}?limit=200`)).json as BulkDetail
    // The job and its audit entry have the count from the beginning.
    expect((await progress(api)).matched).toBe(RUNS)
    expect(await startedWith(api)).toMatchObject({ bulkId, matched: RUNS })
    await until(async () => (await progress(api)).done > 20, { what: 'some results' })

    const next = await again()
    const job = await until(async () => (await progress(next)).status === 'done' && progress(next))
    expect(job).toMatchObject({ matched: RUNS, done: RUNS, skipped: 0, failed: 0 })
    const made = (await next.runs(`?app=${runner.app}&limit=200`)).flatMap(({ replayOf }) => replayOf ?? [])
    expect(made.sort()).toEqual(job.results.map(({ runId }) => runId))

    const path = `/bulk/${await begin(next)}`
    const stopped = (await next.post(`${path}/stop`)).json as Bulk
    expect(stopped).toMatchObject({ status: 'stopped', matched: 2 * RUNS })
    expect(await startedWith(next)).toMatchObject({ status: 'stopped', matched: 2 * RUNS })
    expect(((await next.get(path)).json as Bulk).matched).toBe(stopped.matched)
    expect(((await next.get('/bulk?limit=1')).json as Bulk[])[0]).toMatchObject({ status: 'stopped' })
  },
)

test('a job whose runs are few among many goes on in short slices; a count that takes too long names what to narrow', async () => {
  const few = (i: number) => i % 700 === 5
  const storeFile = await seedRuns(3000, i => (few(i) ? { status: 'paused', app: 'rare' } : { status: 'succeeded' }))
  const { api } = await openEngine({ storeFile, bounds: { bulkSearchMs: 0, http: { bulkScanMs: 1 } } })
  const filter = { q: 'RARE', deep: true }
  for (const [given, field] of [
    [{ q: 'RARE' }, 'filter.q'],
    [filter, 'filter.deep'],
  ] as const) {
    const counted = () => api.post('/bulk', { action: 'cancel', filter: given, dryRun: true })
    // In such a short time a count may not have begun.
    const { status, json } = await until(async () => [await counted()].find(answer => answer.status !== 503))
    expect([status, json]).toMatchObject([400, { error: { code: 'invalid_request', details: { field } } }])
  }
  const { bulkId } = (await api.post('/bulk', { action: 'cancel', filter })).json as { bulkId: string }
  const read = async () => (await api.get(`/bulk/${bulkId}`)).json as BulkDetail
  const done = await until(async () => (await read()).status === 'done' && read(), { what: 'the end of the job' })
  expect(done).toMatchObject({ matched: 5, done: 5, skipped: 0, failed: 0 })
})
