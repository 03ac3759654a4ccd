// Bulk replay: every matching finished run is forked, newest first, up to a bound
// (docs/concepts.md#replay-retry-from-a-step-bulk-replay).

import type { BulkReplayReply, ControlAction, RunSummary } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  flow,
  openDatabase,
  openEngine,
  openRunner,
  type PlainRunner,
  returned,
  run,
  scenario,
  unique,
  wait,
} from '../../kit/index.ts'

const keys = [{ label: 'ops', namespace: 'default', kind: 'secret', key: 'secret-key-of-ops' }]
const { clock, engine } = await scenario({ onDisk: true, env: { ENGINE_API_KEYS: JSON.stringify(keys) } })
const api = engine.api.as('secret-key-of-ops')

/** An app whose workflow follows the event's data: returns, fails, or waits forever. */
async function openApp() {
  const name = unique('replayed')
  const runner: PlainRunner = await openRunner({
    workflows: {
      [name]: async invoke => {
        if (invoke.event.data === 'fail') return { status: 400, body: { logs: [] } }
        if (invoke.event.data === 'wait') return flow([wait('w', `never-${name}`)])(invoke, runner.record)
        return flow([run('a')], (_results, { event }) => event.data)(invoke, runner.record)
      },
    },
  })
  await runner.register(api)
  const start = async (data: unknown, status: 'succeeded' | 'failed' | 'waiting' = 'succeeded') => {
    const { runId } = await api.send({ name, app: runner.app, data })
    await api.reaches(runId, status)
    return runId
  }
  return { app: runner.app, name, start, record: runner.record }
}

async function bulk(filter: unknown, as = api): Promise<BulkReplayReply> {
  const answer = await as.post('/runs/bulk-replay', filter)
  expect(answer.status, answer.text).toBe(200)
  return answer.json as BulkReplayReply
}

/** Forks of the app's runs, newest first. */
const forks = async (app: string, as = api): Promise<RunSummary[]> =>
  (await as.runs(`?app=${app}&limit=200`)).filter(({ replayOf }) => replayOf !== undefined)

describe('what is replayed', () => {
  test('every finished match, as a replay would; the others are counted as skipped', async () => {
    const { app, name, start, record } = await openApp()
    const finished = [await start({ n: 1 }), await start('fail', 'failed')]
    await start('wait', 'waiting')
    expect(await bulk({ app })).toEqual({ matched: 3, replayed: 2, skipped: 1, failed: 0, capped: false })
    const made = await forks(app)
    expect(made.map(({ replayOf }) => replayOf).sort()).toEqual([...finished].sort())
    const copyOf = (source: string) => made.find(({ replayOf }) => replayOf === source) as RunSummary
    const copy = await api.succeeded(copyOf(finished[0] as string).id)
    expect(copy).toMatchObject({
      workflow: name,
      app,
      input: { n: 1 },
      result: { n: 1 },
      triggerKind: 'event',
      eventName: name,
      attempt: 1,
    })
    expect(copy).not.toHaveProperty('eventId')
    expect(record.names(copy.id)).toEqual(['a'])
    await api.failed(copyOf(finished[1] as string).id)
  })

  test('the newest first, up to the bound; capped says that more finished runs matched', async () => {
    const few = await openEngine({ clock, env: { ENGINE_BULK_REPLAY_LIMIT: '2' } })
    const name = unique('replayed')
    const { app } = await few.runner({ workflows: { [name]: () => returned() } })
    const ids: string[] = []
    for (let i = 0; i < 3; i++) {
      clock.jump(10)
      const { runId } = await few.api.send({ name })
      await few.api.succeeded(runId)
      ids.unshift(runId)
    }
    expect(await bulk({ app }, few.api)).toEqual({
      matched: 3,
      replayed: 2,
      skipped: 0,
      failed: 0,
      capped: true,
    })
    const made = await forks(app, few.api)
    expect(made.map(({ replayOf }) => replayOf).sort()).toEqual(ids.slice(0, 2).sort())
    await Promise.all(made.map(({ id }) => few.api.succeeded(id)))
    const since = (await few.api.run(ids[1] as string)).createdAt
    // A number equal to the bound does not exceed it.
    const rest = await bulk({ app, since, status: 'failed' }, few.api)
    expect(rest).toEqual({ matched: 0, replayed: 0, skipped: 0, failed: 0, capped: false })
  })

  test('many in several batches, each once, and none of its own forks', async () => {
    const { app, start } = await openApp()
    const ids = await Promise.all(Array.from({ length: 30 }, (_, i) => start(i)))
    expect(await bulk({ app, status: 'succeeded' })).toMatchObject({
      matched: 30,
      replayed: 30,
      capped: false,
    })
    const made = await forks(app)
    const newestFirst = (await api.runs(`?app=${app}&limit=200`)).flatMap(({ id, replayOf }) =>
      replayOf === undefined ? [id] : [],
    )
    expect([...ids].sort().reverse()).toEqual(newestFirst)
    expect(made.reverse().map(({ replayOf }) => replayOf)).toEqual(newestFirst)
    await Promise.all(made.map(({ id }) => api.succeeded(id)))
    // The clock has stood still, so the forks are as old as their sources, and match from the next call on.
    expect(await bulk({ app })).toMatchObject({ matched: 60, replayed: 60 })
  })

  test('each filter narrows, all together too', async () => {
    const { app, name, start } = await openApp()
    await start(1)
    await start('fail', 'failed')
    clock.jump(1000)
    const late = await start('fail', 'failed')
    const since = (await api.run(late)).createdAt
    const matched = async (filter: object) => (await bulk({ app, ...filter })).matched
    expect(await matched({ status: 'cancelled' })).toBe(0)
    expect(await matched({ runType: 'cron' })).toBe(0)
    expect(await matched({ workflow: 'another' })).toBe(0)
    expect(await matched({ workflow: name, status: 'failed', runType: 'event', since })).toBe(1)
    await Promise.all((await forks(app)).map(({ id }) => api.failed(id)))
    // The fork of the failed run has failed too.
    expect(await matched({ status: 'failed', since })).toBe(2)
  })

  test('status running matches waiting runs as well, and replays none of them', async () => {
    const { app, start } = await openApp()
    await start('wait', 'waiting')
    await start(1)
    const answer = { matched: 1, replayed: 0, skipped: 1, failed: 0, capped: false }
    expect(await bulk({ app, status: 'running' })).toEqual(answer)
    expect(await forks(app)).toEqual([])
  })

  test('a run that cannot be forked is counted as failed, and the others are forked', async () => {
    const { app, start } = await openApp()
    const [, poor] = [await start(1), await start(2), await start(3)]
    const database = await openDatabase(engine.storeFile)
    database.exec(`CREATE TRIGGER no_fork BEFORE INSERT ON runs WHEN NEW.replay_of = '${poor}'
      BEGIN SELECT RAISE(ABORT, 'no fork'); END`)
    expect(await bulk({ app })).toEqual({ matched: 3, replayed: 2, skipped: 0, failed: 1, capped: false })
    database.exec('DROP TRIGGER no_fork')
    const [entry] = (await api.get('/control-actions?action=bulk_replay&limit=1')).json as ControlAction[]
    expect(entry?.detail).toMatchObject({ filter: { app }, replayed: 2, failed: 1 })
    expect(engine.takeErrors().join()).toContain(poor)
    expect(await forks(app)).toHaveLength(2)
  })
})

describe('what is refused', () => {
  test.each<[string | undefined, string]>([
    [undefined, 'invalid_request'],
    ['{', 'invalid_json'],
    ['{}', 'invalid_request'],
    ['{"since":"2030-02-30T00:00:00Z"}', 'invalid_request'],
  ])('%s is 400', async (text, code) => {
    const answer =
      text === undefined ? await api.post('/runs/bulk-replay') : await api.postText('/runs/bulk-replay', text)
    expect(answer).toMatchObject({ status: 400, code })
    if (text?.startsWith('{"since"')) {
      expect(answer.json).toMatchObject({ error: { details: { field: 'since' } } })
    }
  })

  test('a misspelt filter is refused, so that it cannot replay more runs than were meant', async () => {
    const answer = await api.post('/runs/bulk-replay', { app: unique('nobody'), statsu: 'failed' })
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(answer.json).toMatchObject({
      error: { message: '"statsu" is not known here; did you mean "status"?', details: { field: 'statsu' } },
    })
  })
})

describe('what is recorded', () => {
  test('one entry, with the filter and the counts', async () => {
    const { app, start } = await openApp()
    await start(1)
    const { createdAt } = await api.run(await start(2))
    const answer = await bulk({ app, since: createdAt.replace('Z', '+00:00') })
    const entries = (await api.get('/control-actions?action=bulk_replay')).json as ControlAction[]
    const own = entries.filter(({ detail }) => JSON.stringify(detail).includes(`"${app}"`))
    expect(own).toMatchObject([
      { action: 'bulk_replay', actor: 'ops', detail: { filter: { app, since: createdAt }, ...answer } },
    ])
    expect(own[0]).not.toHaveProperty('runId')
  })

  test('from the first batch on, so that a call that is cut short shows what it has done', async () => {
    const { app, start } = await openApp()
    const ids = await Promise.all(Array.from({ length: 30 }, (_, i) => start(i)))
    const database = await openDatabase(engine.storeFile)
    // Neither the second batch nor its audit entry can be written.
    const oldest = ids.sort().slice(0, 5)
    database.exec(`CREATE TRIGGER no_fork BEFORE INSERT ON runs WHEN instr('${oldest}', NEW.replay_of)
      BEGIN SELECT RAISE(ABORT, 'no fork'); END;
      CREATE TABLE entries (detail TEXT);
      CREATE TRIGGER keep_entry AFTER INSERT ON control_actions BEGIN INSERT INTO entries VALUES (NEW.detail); END`)
    expect(await bulk({ app })).toMatchObject({ matched: 30, replayed: 25, failed: 5 })
    const first = database.prepare('SELECT detail FROM entries').all() as { detail: string }[]
    database.exec('DROP TRIGGER no_fork; DROP TRIGGER keep_entry; DROP TABLE entries')
    expect(first.map(({ detail }) => JSON.parse(detail))).toMatchObject([{ matched: 30, replayed: 25, failed: 0 }])
    const entries = (await api.get('/control-actions?action=bulk_replay&limit=2')).json as ControlAction[]
    expect(entries.filter(({ detail }) => JSON.stringify(detail).includes(`"${app}"`))).toMatchObject([
      { actor: 'ops', detail: { matched: 30, replayed: 25, failed: 5 } },
    ])
    engine.takeErrors()
  })

  test('also when nothing was replayed', async () => {
    const app = unique('nobody')
    const nothing = { matched: 0, replayed: 0, skipped: 0, failed: 0, capped: false }
    expect(await bulk({ app })).toEqual(nothing)
    const [entry] = (await api.get('/control-actions?limit=1')).json as ControlAction[]
    expect(entry).toMatchObject({ action: 'bulk_replay', detail: { filter: { app }, ...nothing } })
  })

  test('nothing for a refused call', async () => {
    const before = (await api.get('/control-actions')).text
    await api.post('/runs/bulk-replay', {})
    expect((await api.get('/control-actions')).text).toBe(before)
  })
})
