// The list of runs: one test for every query parameter of `GET /runs` except `q`, `deep` and `cursor`, which have separate files
// (list-search, list-pages; docs/http-api/runs.md#get-runs).

import { beforeAll, describe, expect, test } from 'vitest'
import { errorFingerprint } from '../../../packages/engine/src/domain/view/errors/error-fingerprint.ts'
import { allPages, page, RunHistory } from '../../kit/engine/run-history.ts'

const history = await RunHistory.open()
const { api, clock } = history
const list = async (query: string) => (await page(api, query)).ids

/** The runs by name, created one after the other in this order. */
const made: Record<string, string> = {}
const newest = (...names: string[]) => names.map(name => made[name])
let fanOut = ''

beforeAll(async () => {
  await history.runner('shop', ['order', 'refund'])
  await history.runner('mail', ['letter'])
  const away = await history.runner('away', ['absent'])
  await away.close()

  made.quick = (await history.run('shop', 'order', { lastsMs: 10 })).id
  made.failed = (await history.run('shop', 'refund', { ends: 'failed', lastsMs: 500 })).id
  made.slow = (await history.run('mail', 'letter', { lastsMs: 2000 })).id
  made.parked = (await history.run('shop', 'order', { ends: 'waiting' })).id
  made.paused = (await history.run('shop', 'order', { ends: 'waiting' })).id
  await history.act(made.paused, 'pause', 'paused')
  made.cancelled = (await history.run('shop', 'refund', { ends: 'waiting' })).id
  await history.act(made.cancelled, 'cancel', 'cancelled')
  made.replayed = (await history.replay(made.quick)).id
  made.running = (await history.run('mail', 'letter', { ends: 'running' })).id
  const held = await history.send({ name: 'absent', app: 'away' })
  made.queued = held.runId
  fanOut = held.eventId
  await api.reaches(made.queued, 'queued')
})

const ALL = ['queued', 'running', 'replayed', 'cancelled', 'paused', 'parked', 'slow', 'failed', 'quick']

test('without parameters: every run of the namespace, newest first', async () => {
  expect(await list('')).toEqual(newest(...ALL))
})

test('workflow restricts to one workflow, of any app', async () => {
  expect(await list('workflow=order')).toEqual(newest('replayed', 'paused', 'parked', 'quick'))
  expect(await list('workflow=order&app=mail')).toEqual([])
  expect(await list('workflow=none')).toEqual([])
})

test('a workflow with a star stands for all that begin so', async () => {
  const orders = newest('replayed', 'paused', 'parked', 'quick')
  expect(await list('workflow=or*')).toEqual(orders)
  expect(await list('workflow=order*&limit=2')).toEqual(orders.slice(0, 2))
  expect(await list('workflow=l*&app=mail')).toEqual(newest('running', 'slow'))
  expect(await list('workflow=*')).toEqual([])
  expect(await list('workflow=rder*')).toEqual([])
})

test('app restricts to one app', async () => {
  expect(await list('app=mail')).toEqual(newest('running', 'slow'))
  expect(await list('app=nobody')).toEqual([])
})

describe('status', () => {
  test.each([
    ['queued', ['queued']],
    ['waiting', ['parked']],
    ['paused', ['paused']],
    ['succeeded', ['replayed', 'slow', 'quick']],
    ['failed', ['failed']],
    ['cancelled', ['cancelled']],
  ])('%s', async (status, names) => {
    expect(await list(`status=${status}`)).toEqual(newest(...names))
  })

  test('several at once, in every order', async () => {
    expect(await list('status=failed,cancelled')).toEqual(newest('cancelled', 'failed'))
    expect(await list('status=failed&status=cancelled')).toEqual(newest('cancelled', 'failed'))
    expect(await list('status=cancelled,failed&sort=status')).toEqual(newest('failed', 'cancelled'))
    const succeeded = newest('replayed', 'parked', 'slow', 'quick')
    expect(await allPages(api, 'status=waiting,succeeded', 1)).toEqual(succeeded)
    expect(await api.get('/runs?status=failed,done')).toMatchObject({ status: 400, code: 'invalid_request' })
  })

  test('running also matches waiting, in every order', async () => {
    expect(await list('status=running')).toEqual(newest('running', 'parked'))
    expect(await list('status=running&dir=asc')).toEqual(newest('parked', 'running'))
    expect(await list('status=running&sort=status')).toEqual(newest('parked', 'running'))
    expect(await allPages(api, 'status=running&sort=status&dir=asc', 1)).toEqual(newest('running', 'parked'))
  })
})

test('runType separates event-triggered runs from those of a cron; a replay has the type of its source', async () => {
  expect(await list('runType=event')).toEqual(newest(...ALL))
  expect(await list('runType=cron')).toEqual([])
})

test('eventId finds the runs that one event fanned out, and no fork of them', async () => {
  expect(await list(`eventId=${fanOut}`)).toEqual(newest('queued'))
  const { eventId } = await api.run(made.quick as string)
  expect(await list(`eventId=${eventId}`)).toEqual(newest('quick'))
  expect(await list('eventId=evt_none')).toEqual([])
})

test('replayOf finds the runs forked from one source run', async () => {
  expect(await list(`replayOf=${made.quick}`)).toEqual(newest('replayed'))
  expect(await list(`replayOf=${made.slow}`)).toEqual([])
})

test('since keeps runs that started at that time or later', async () => {
  const { createdAt } = await api.run(made.cancelled as string)
  const later = new Date(Date.parse(createdAt) + 1).toISOString()
  expect(await list(`since=${createdAt}`)).toEqual(newest(...ALL.slice(0, 4)))
  expect(await list(`since=${later}`)).toEqual(newest(...ALL.slice(0, 3)))
  expect(await list(`since=${createdAt.replace('Z', '%2B00:00')}&sort=app&dir=asc`)).toEqual(
    newest('queued', 'running', 'cancelled', 'replayed'),
  )
  expect(await list(`since=${new Date(clock.now() + 1).toISOString()}`)).toEqual([])
})

test('until keeps runs that started before that time', async () => {
  const { createdAt } = await api.run(made.cancelled as string)
  expect(await list(`until=${createdAt}`)).toEqual(newest(...ALL.slice(4)))
  const { createdAt: parkedAt } = await api.run(made.parked as string)
  expect(await list(`since=${parkedAt}&until=${createdAt}&sort=duration`)).toEqual(newest('paused', 'parked'))
  expect(await list(`since=${createdAt}&until=${createdAt}`)).toEqual([])
})

test('waitingFor finds runs by what they wait for', async () => {
  expect(await list('waitingFor=event')).toEqual(newest('parked'))
  expect(await list('waitingFor=event&status=paused,queued')).toEqual([])
  expect(await list('waitingFor=event&sort=status&dir=asc')).toEqual(newest('parked'))
  expect(await list('waitingFor=runner')).toEqual(newest('queued'))
  expect(await list('waitingFor=sleep')).toEqual([])
  const refused = await api.get('/runs?waitingFor=money')
  expect(refused).toMatchObject({ status: 400, code: 'invalid_request' })
})

test('ids finds these runs alone, and what is no run matches nothing', async () => {
  const ids = [made.slow, 'run_none', made.queued, made.slow].join(',')
  expect(await list(`ids=${ids}`)).toEqual(newest('queued', 'slow'))
  expect(await list(`ids=${ids}&sort=duration`)).toEqual(newest('slow', 'queued'))
  expect(await list(`ids=${ids}&app=mail`)).toEqual(newest('slow'))
  const many = Array.from({ length: 201 }, (_, i) => `run_${i}`).join(',')
  expect(await api.get(`/runs?ids=${many}`)).toMatchObject({ status: 400, code: 'invalid_request' })
})

describe('sort and dir: the key, then the id, both in the requested direction', () => {
  test.each(['started', 'workflow', 'status', 'app', 'duration'])('%s', async sort => {
    const runs = (await page(api, `sort=${sort}`)).runs
    expect(new Set(runs.map(({ id }) => id))).toEqual(new Set(newest(...ALL)))
    const descending = [...runs].sort((a, b) => {
      const [x, y] = [a, b].map(run => {
        if (sort === 'started') return run.createdAt
        return sort === 'duration' ? (run.durationMs ?? 0) : run[sort as 'app']
      }) as [string, string]
      return x === y ? (a.id < b.id ? 1 : -1) : x < y ? 1 : -1
    })
    expect(runs).toEqual(descending)
    expect(await list(`sort=${sort}&dir=desc`)).toEqual(descending.map(({ id }) => id))
    expect(await list(`sort=${sort}&dir=asc`)).toEqual(descending.map(({ id }) => id).reverse())
  })

  test('duration counts a run without one as 0', async () => {
    const runs = (await page(api, 'sort=duration')).runs
    expect(runs.slice(0, 4).map(({ durationMs }) => durationMs)).toEqual([2000, 500, 10, 10])
    expect(new Set(runs.slice(4).map(({ durationMs }) => durationMs ?? 0))).toEqual(new Set([0]))
  })
})

test('filters apply together', async () => {
  expect(await list('app=shop&status=succeeded&runType=event')).toEqual(newest('replayed', 'quick'))
  expect(await list(`app=shop&status=succeeded&replayOf=${made.quick}&sort=duration`)).toEqual(newest('replayed'))
  expect(await list('app=mail&status=failed')).toEqual([])
})

test('limit: 30 by default, clamped to 1-200', async () => {
  const app = 'many'
  await history.runner(app, ['one'])
  for (let i = 0; i < 201; i++) await history.send({ name: 'one', app, data: { ends: 'waiting' } })
  const length = async (query: string) => (await list(`app=${app}${query}`)).length
  expect(await length('')).toBe(30)
  expect(await length('&limit=0')).toBe(1)
  expect(await length('&limit=-5')).toBe(1)
  expect(await length('&limit=200')).toBe(200)
  expect(await length('&limit=201')).toBe(200)
})

test('a workflow with a star stands for 50 workflows at most', async () => {
  const names = Array.from({ length: 51 }, (_, i) => `sync-${10 + i}`)
  await history.runner('syncs', names)
  const send = (name: string) => history.send({ name, app: 'syncs', data: { ends: 'waiting' } })
  for (const name of names.slice(1)) await send(name)
  expect(await list('workflow=sync-*&limit=200')).toHaveLength(50)
  await send('sync-10')
  expect(await api.get('/runs?workflow=sync-*')).toMatchObject({
    status: 400,
    json: { error: { details: { field: 'workflow' } } },
  })
  expect(await list('workflow=sync-6*')).toHaveLength(1)
})

test.each([
  'status=sleeping',
  'runType=child',
  'sort=createdAt',
  'dir=up',
  'deep=true',
  'limit=many',
  'since=yesterday',
  'since=2031-02-30T00:00:00Z',
  'app=',
  'app=a&app=b',
])('%s is 400 invalid_request and named', async query => {
  const answer = await api.get(`/runs?${query}`)
  expect(answer).toMatchObject({ status: 400, code: 'invalid_request' })
  expect((answer.json as { error: { details: object } }).error.details).toEqual({
    field: query.split('=')[0],
  })
})

test('error finds the failures of one cause', async () => {
  const refunds = ['order 71 of "ann" not found', "order 12345 of 'ben' not found", 'order of "cid" not found']
  const failed: string[] = []
  for (const message of refunds) failed.push((await history.run('shop', 'refund', { ends: 'failed', message })).id)
  const [first = '', second = '', other = ''] = failed
  const fingerprintOf = async (id: string) => {
    const { status, app, workflow, error } = await api.run(id)
    return errorFingerprint({ status, app, workflow, error } as Parameters<typeof errorFingerprint>[0])
  }
  const fingerprint = await fingerprintOf(first)
  expect(await fingerprintOf(second)).toBe(fingerprint)
  expect(await fingerprintOf(other)).not.toBe(fingerprint)
  expect(await list(`error=${fingerprint}`)).toEqual([second, first])
  expect(await list(`error=${fingerprint}&sort=workflow&limit=1`)).toEqual([second])
  expect(await list('error=0000000000000000')).toEqual([])
  for (const text of ['zz', '', `${fingerprint}`.toUpperCase(), `${fingerprint}0`]) {
    const { status, json } = await api.get(`/runs?error=${text}`)
    const { message } = (json as { error: { message: string } }).error
    expect([status, message]).toEqual([400, 'error must match pattern "^[0-9a-f]{16}$"'])
  }

  const groups = async (query: string) => (await api.get(`/errors?${query}`)).json as Record<string, unknown>[]
  const group = {
    fingerprint,
    app: 'shop',
    workflow: 'refund',
    state: 'open',
    count: 2,
    lastRunId: second,
    code: 'runner_rejected',
  }
  const [{ finishedAt: firstAt }, { finishedAt: lastAt }] = await Promise.all([api.run(first), api.run(second)])
  const times = { firstAt, lastAt, firstSeenAt: firstAt }
  const largest = { ...group, message: refunds[1], ...times, lastRunner: expect.stringMatching('^http') }
  expect((await groups('app=shop&workflow=refund'))[0]).toEqual(largest)
  expect((await groups('')).map(({ count }) => count)).toEqual([2, 1, 1])
  expect(await groups('limit=1')).toEqual([largest])
  const [trend] = await groups(`since=${firstAt}&trend=4&app=shop`)
  expect(trend).toEqual({ ...largest, trend: expect.any(Array) })
  expect(trend?.trend).toHaveLength(4)
  clock.jump(Date.parse(lastAt as string) - Date.parse(firstAt as string) + 10_000)
  const spans = async (count: number) =>
    (await groups(`since=${firstAt}&trend=${count}&app=shop`)).map(({ trend }) => trend as number[])
  // Both failures of the largest group are in the first part of the time, and each group has a separate trend.
  expect((await spans(1)).slice(0, 2)).toEqual([[2], [1]])
  expect((await spans(2)).map(([first = 0, second = 0]) => first + second)).toEqual((await spans(1)).flat())
  expect((await spans(2))[0]).toEqual([2, 0])
  expect((await spans(48))[0]?.reduce((sum, count) => sum + count, 0)).toBe(2)
  expect((await api.get('/errors?trend=x')).status).toBe(400)
  // Up to a time, which is also the end of the trend.
  expect(await groups(`since=${firstAt}&until=${firstAt}&app=shop`)).toEqual([])
  const early = await groups(`since=${firstAt}&until=${lastAt}&app=shop&trend=1`)
  expect(early).toMatchObject([{ fingerprint, count: 1, lastAt: firstAt, lastRunId: first, trend: [1] }])
  expect((await groups(`until=${lastAt}&app=shop`)).map(({ count }) => count)).toEqual([1, 1])
  expect((await api.get('/errors?until=x')).text).toContain('until')
  // A failure before the time is not counted, but shows since when the group is known.
  const late = await groups(`since=${lastAt}&app=shop`)
  expect(late).toHaveLength(2)
  const again = late.find(each => each.fingerprint === fingerprint)
  expect(again).toMatchObject({ count: 1, firstAt: lastAt, firstSeenAt: firstAt })
  expect(await groups('app=mail')).toEqual([])
  expect(await groups('workflow=order')).toEqual([])
  expect(await groups(`since=${new Date(clock.now() + 1).toISOString()}`)).toEqual([])
  await history.run('mail', 'letter', { ends: 'failed', message: '😀'.repeat(201) })
  expect(await groups('app=mail')).toMatchObject([{ count: 1, message: '😀'.repeat(200) }])
})

test('groups of errors count their failures by runner, with the SDKs that these are registered with', async () => {
  const [app, name] = ['fleet', 'load']
  const refuse = () => ({ status: 400, body: { error: { message: 'no' }, logs: [] } })
  const fail = async (runner: string) => {
    const { runId } = await history.send({ app, name, runner })
    await api.reaches(runId, 'failed')
  }
  const [old, other] = ['fleet-1', 'fleet-2']
  const first = await history.engine.runner({ app, runner: old, workflows: { [name]: refuse } })
  await first.register(api, { sdkName: 'sdk-of-test', version: '1.2.3' })
  await history.engine.runner({ app, runner: other, workflows: { [name]: refuse } })
  for (const runner of [other, old, old]) await fail(runner)
  const runners = async (count: number) =>
    ((await api.get(`/errors?app=${app}&runners=${count}`)).json as { runners: unknown }[]).map(group => group.runners)
  const ofOld = { runnerId: old, count: 2, sdkName: 'sdk-of-test', version: '1.2.3' }
  expect(await runners(10)).toEqual([[ofOld, { runnerId: other, count: 1 }]])
  expect(await runners(1)).toEqual([[ofOld]])
  expect((await api.get('/errors?runners=some')).text).toContain('runners must be')
})

test('runner finds the runs that are pinned to it', async () => {
  const { runId } = await history.send({ name: 'absent', app: 'away', runner: 'r-7' })
  expect(await list('runner=r-7')).toEqual([runId])
  expect(await list('runner=r-8')).toEqual([])
})
