// The audit log of control actions (docs/concepts.md#audit).

import type { ControlAction, RunSummary } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { type Api, flow, openDatabase, openEngine, openRunner, run, scenario, unique, wait } from '../../kit/index.ts'

const keyOf = (label: string) => `secret-key-of-${label}`
const keys = [
  { label: 'ops', namespace: 'ours', kind: 'secret', key: keyOf('ops') },
  { label: 'night shift', namespace: 'ours', kind: 'secret', key: keyOf('night shift') },
  { label: 'viewer', namespace: 'ours', kind: 'read', key: keyOf('viewer') },
  { label: 'strangers', namespace: 'theirs', kind: 'secret', key: keyOf('strangers') },
]
const { clock, engine } = await scenario({ onDisk: true, env: { ENGINE_API_KEYS: JSON.stringify(keys) } })
const api = engine.api.as(keyOf('ops'))
const nightShift = engine.api.as(keyOf('night shift'))
const viewer = engine.api.as(keyOf('viewer'))
const strangers = engine.api.as(keyOf('strangers'))

const go = unique('go')
const name = unique('audited')
const runner = await openRunner({ workflows: { [name]: flow([run('a'), wait('w', go)]) } })
await runner.register(api)

async function parked(as = api): Promise<string> {
  const { runId } = await as.send({ name })
  await as.reaches(runId, 'waiting')
  return runId
}

const act = (runId: string, action: string, body?: unknown, as = api) => as.post(`/runs/${runId}/${action}`, body)

async function entries(query = '', as: Api = viewer): Promise<ControlAction[]> {
  const answer = await as.get(`/control-actions${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.json as ControlAction[]
}

describe('every action is recorded', () => {
  test('with its kind, its run, the label of the key, and when; newest first', async () => {
    const runId = await parked()
    await act(runId, 'pause')
    clock.jump(1000)
    await act(runId, 'pause', undefined, nightShift)
    await act(runId, 'resume')
    await act(runId, 'cancel')
    const { id: copy } = (await act(runId, 'replay', { input: 1 })).json as RunSummary
    const { id: rest } = (await act(runId, 'retry-from-step', { step: 'w' })).json as RunSummary
    const found = await entries(`?runId=${runId}`)
    const at = (ms: number) => new Date(clock.now() - 1000 + ms).toISOString()
    const id = expect.stringMatching(/^act_[0-9A-Z]{26}$/)
    // A repeated pause changes nothing, but is still an action.
    expect(found).toEqual([
      {
        id,
        action: 'retry_from_step',
        runId,
        newRunId: rest,
        actor: 'ops',
        detail: { step: 'w' },
        createdAt: at(1000),
      },
      { id, action: 'replay', runId, newRunId: copy, actor: 'ops', createdAt: at(1000) },
      { id, action: 'cancel', runId, actor: 'ops', createdAt: at(1000) },
      { id, action: 'resume', runId, actor: 'ops', createdAt: at(1000) },
      { id, action: 'pause', runId, actor: 'night shift', createdAt: at(1000) },
      { id, action: 'pause', runId, actor: 'ops', createdAt: at(0) },
    ])
    // `since` includes its time, `until` does not. Pages stay in the window.
    const window = `?runId=${runId}&since=${at(0)}&until=${at(1000)}`
    expect(await entries(window)).toEqual(found.slice(-1))
    expect(await entries(`?runId=${runId}&since=${at(1)}`)).toEqual(found.slice(0, -1))
    expect(await entries(`?runId=${runId}&until=${at(0)}`)).toEqual([])
    const first = await viewer.get(`/control-actions?runId=${runId}&until=${at(1001)}&limit=5`)
    expect(first.json).toEqual(found.slice(0, 5))
    const cursor = encodeURIComponent(first.headers.get('x-next-cursor') as string)
    expect(await entries(`?runId=${runId}&until=${at(1001)}&limit=5&cursor=${cursor}`)).toEqual(found.slice(5))
    expect(await viewer.get('/control-actions?until=x')).toMatchObject({ status: 400, code: 'invalid_request' })
  })

  test('without an actor where no key is configured', async () => {
    const open = await openEngine({ clock })
    await open.runner({ workflows: { [name]: flow([wait('w', go)]) } })
    const { runId } = await open.api.send({ name })
    await open.api.post(`/runs/${runId}/cancel`)
    const [entry] = await entries('', open.api)
    expect(entry).toMatchObject({ action: 'cancel', runId })
    expect(entry).not.toHaveProperty('actor')
  })

  test('of webhook endpoints and receivers too: made, changed, deleted; a refused one is not', async () => {
    for (const [kind, made] of [
      ['endpoint', { url: 'https://alerts.example.com/', eventKinds: ['run.failed'] }],
      ['receiver', { eventName: 'parcel/left' }],
    ] as const) {
      const path = `/webhook-${kind}s`
      const { id } = (await api.post(path, made)).json as { id: string }
      expect((await api.patch(`${path}/${id}`, { enabled: false })).status).toBe(200)
      expect((await nightShift.request('DELETE', `${path}/${id}`)).status).toBe(204)
      expect((await api.request('DELETE', `${path}/${id}`)).status).toBe(404)
      const found = (await entries('?limit=4')).filter(({ action }) => action.startsWith(`${kind}.`))
      expect(found).toMatchObject([
        { action: `${kind}.delete`, actor: 'night shift', detail: { id } },
        { action: `${kind}.update`, actor: 'ops', detail: { id, changed: ['enabled'] } },
        { action: `${kind}.create`, actor: 'ops', detail: { id } },
      ])
    }
  })

  test('a refused action is not', async () => {
    const runId = await parked()
    await act(runId, 'resume')
    await act(runId, 'replay')
    await act(runId, 'retry-from-step', {})
    await act('run_unknown', 'cancel')
    await act(runId, 'cancel', undefined, strangers)
    await act(runId, 'cancel', undefined, viewer)
    expect(await entries(`?runId=${runId}`)).toEqual([])
    expect(await entries('?runId=run_unknown')).toEqual([])
  })

  test('of two concurrent cancels only the successful one', async () => {
    const runId = await parked()
    await Promise.all([act(runId, 'cancel'), act(runId, 'cancel', undefined, nightShift)])
    expect(await entries(`?runId=${runId}`)).toHaveLength(1)
  })
})

describe('filters', () => {
  test('runId: actions on the run, and the action that forked it', async () => {
    const runId = await parked()
    await act(runId, 'cancel')
    const { id: copy } = (await act(runId, 'replay')).json as RunSummary
    await act(copy, 'cancel')
    const kinds = async (query: string) => (await entries(query)).map(({ action }) => action)
    expect(await kinds(`?runId=${runId}`)).toEqual(['replay', 'cancel'])
    expect(await kinds(`?runId=${copy}`)).toEqual(['cancel', 'replay'])
    expect(await kinds(`?runId=${copy}&action=replay`)).toEqual(['replay'])
    expect(await kinds('?runId=run_unknown')).toEqual([])
  })

  test('limit is 100 by default and at most 1000; out of range it is clamped', async () => {
    const runId = await parked()
    await Promise.all(Array.from({ length: 101 }, () => act(runId, 'pause')))
    expect(await entries(`?runId=${runId}`)).toHaveLength(100)
    expect(await entries(`?runId=${runId}&limit=5000`)).toHaveLength(101)
    expect(await entries(`?runId=${runId}&limit=0`)).toHaveLength(1)
    for (const query of ['?limit=many', '?action=explode', '?runId=', '?limit=1&limit=2', '?actor=', '?actor=%20']) {
      expect(await viewer.get(`/control-actions${query}`), query).toMatchObject({
        status: 400,
        code: 'invalid_request',
      })
    }
  })
})

describe('an audit log that cannot be written', () => {
  test('fails no action: each takes full effect, and the engine logs what it could not record', async () => {
    const database = await openDatabase(engine.storeFile)
    const runId = await parked()
    const finished = await parked()
    await act(finished, 'cancel')
    const before = await entries()
    database.exec(`CREATE TRIGGER no_audit BEFORE INSERT ON control_actions
      BEGIN SELECT RAISE(ABORT, 'the audit log is full'); END`)
    try {
      expect((await act(runId, 'pause')).json).toMatchObject({ id: runId, status: 'paused' })
      expect((await act(runId, 'pause')).json).toMatchObject({ status: 'paused' })
      expect((await act(runId, 'resume')).json).toMatchObject({ status: 'queued' })
      await api.reaches(runId, 'waiting')
      expect((await act(runId, 'cancel')).json).toMatchObject({ status: 'cancelled' })
      expect(await act(runId, 'cancel')).toMatchObject({ status: 409, code: 'run_terminal' })
      const { id: copy } = (await act(finished, 'replay')).json as RunSummary
      const { id: rest } = (await act(finished, 'retry-from-step', { step: 'w' })).json as RunSummary
      await Promise.all([copy, rest].map(id => api.reaches(id, 'waiting')))
      expect(runner.record.names(rest)).toEqual(['w'])
      const since = (await api.run(finished)).createdAt
      const bulk = await api.post('/runs/bulk-replay', { status: 'cancelled', since })
      expect(bulk.status).toBe(200)
    } finally {
      database.exec('DROP TRIGGER no_audit')
    }
    expect(await entries()).toEqual(before)
    const logged = engine
      .takeErrors()
      .map(line => JSON.parse(line))
      .filter(({ msg }) => msg === 'a control action was not recorded')
    expect(logged).toMatchObject([
      { level: 50, action: 'pause', runId },
      { level: 50, action: 'pause', runId },
      { level: 50, action: 'resume', runId },
      { level: 50, action: 'cancel', runId },
      { level: 50, action: 'replay', runId: finished },
      { level: 50, action: 'retry_from_step', runId: finished },
      { level: 50, action: 'bulk_replay' },
    ])
    // When the log is writable again, everything is recorded as before.
    const next = await parked()
    await act(next, 'cancel')
    expect(await entries(`?runId=${next}`)).toMatchObject([{ action: 'cancel' }])
  })
})
