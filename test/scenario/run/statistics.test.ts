// Runs in numbers: `GET /runs/series`, `GET /workflows/stats` and `GET /runs/facets` (docs/http-api/runs.md#get-runsseries).

import type { RunFacets, RunSeriesPoint, WorkflowStats } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { RunHistory } from '../../kit/engine/run-history.ts'
import { flow, run, until } from '../../kit/index.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const history = await RunHistory.open({ env: { ENGINE_RETENTION: '3d' } })
const { api, clock } = history
const time = (at: number) => new Date(at).toISOString()
const series = async (query = '') => (await api.get(`/runs/series?${query}`)).json as RunSeriesPoint[]
const stats = async (query = '') => (await api.get(`/workflows/stats?${query}`)).json as WorkflowStats[]
const trends = async (query: string) => (await stats(query)).map(({ workflow, trend }) => [workflow, trend])
const facets = async (query = '') => (await api.get(`/runs/facets?${query}`)).json as RunFacets

/** Advances time in minutes, while the engine counts and removes runs, until there is no run. */
async function pass(isDone: () => Promise<boolean>): Promise<void> {
  await until(async () => {
    clock.jump(MINUTE)
    return isDone()
  })
}

test('counts over time and by workflow, of runs that are there, and the same when retention has removed them', async () => {
  clock.jump(HOUR - (clock.now() % HOUR))
  const from = clock.now()
  const first = await history.runner('shop', ['order', 'refund'])
  await history.runner('mail', ['letter'])
  await history.engine.runner({
    app: 'steps',
    workflows: { stepped: flow([run('pack', () => clock.jump(400)), run('ship')]) },
  })
  expect(await stats()).toEqual([])
  await history.run('shop', 'order', { lastsMs: 1000 })
  await history.run('shop', 'order', { lastsMs: 1000 })
  const failed = await history.run('shop', 'order', { ends: 'failed', message: 'é'.repeat(300), lastsMs: 60_000 })
  await history.run('mail', 'letter')
  const { runId: steppedId } = await history.send({ app: 'steps', name: 'stepped' })
  await api.succeeded(steppedId)
  clock.jump(2 * HOUR)
  const cancelled = await history.run('shop', 'refund', { ends: 'waiting' })
  await history.act(cancelled.id, 'cancel', 'cancelled')
  const waiting = await history.run('mail', 'letter', { ends: 'waiting' })
  await first.close()
  const ended = clock.now()

  const window = `since=${time(from)}&until=${time(from + 4 * HOUR)}`
  const none = { started: 0, succeeded: 0, failed: 0, cancelled: 0 }
  // Percentiles are off by at most 9 %.
  const orders = { started: 3, succeeded: 2, failed: 1, cancelled: 0, p50Ms: 938, p95Ms: 60_096, p99Ms: 60_096 }
  const expectSeries = async () => {
    const all = await series(window)
    expect(all.map(({ at }) => at)).toEqual([0, 1, 2, 3].map(hour => time(from + hour * HOUR)))
    expect(all).toMatchObject([
      { started: 5, succeeded: 4, failed: 1, cancelled: 0 },
      none,
      { started: 2, succeeded: 0, failed: 0, cancelled: 1 },
      none,
    ])
    expect(all[1]).toEqual({ at: time(from + HOUR), ...none })
    const ofOrders = [
      { at: time(from), ...orders, queueP95Ms: expect.any(Number) },
      ...all.slice(1).map(({ at }) => ({ at, ...none })),
    ]
    expect(await series(`${window}&workflow=order`)).toEqual(ofOrders)
    expect(await series(`${window}&app=shop&workflow=order`)).toEqual(ofOrders)
    expect(await series(`${window}&app=mail`)).toMatchObject([{ succeeded: 1 }, none, { started: 1 }, none])
    const days = await series(`since=${time(from)}&until=${time(from + DAY)}&step=1d`)
    const sum = (name: 'started' | 'succeeded' | 'cancelled') => days.reduce((all, point) => all + point[name], 0)
    expect([sum('started'), sum('succeeded'), sum('cancelled')]).toEqual([7, 4, 1])
    expect(
      (await series(`since=${time(from)}&until=${time(from + HOUR)}&step=5m`)).map(({ succeeded }) => succeeded),
    ).toEqual([4, ...Array(11).fill(0)])
  }
  await expectSeries()
  const expectTrends = async () => {
    const spans = { at: time(from), spanMs: HOUR }
    // Their order follows the ended runs, and changes later.
    expect(new Map((await trends(`${window}&trend=4`)) as [string, unknown][])).toEqual(
      new Map([
        ['order', { ...spans, started: [3, 0, 0, 0], failed: [1, 0, 0, 0] }],
        ['letter', { ...spans, started: [1, 0, 1, 0], failed: [0, 0, 0, 0] }],
        ['refund', { ...spans, started: [0, 0, 1, 0], failed: [0, 0, 0, 0] }],
        ['stepped', { ...spans, started: [1, 0, 0, 0], failed: [0, 0, 0, 0] }],
      ]),
    )
    // Spans begin at multiples of their length. Runs before the window are not in the first span.
    const [order] = await trends(
      `since=${time(from + 5 * MINUTE)}&until=${time(from + 4 * HOUR)}&workflow=order&trend=4`,
    )
    expect(order).toBeUndefined()
    const [[, letter] = []] = await trends(`${window}&workflow=letter&trend=2`)
    const first = from - (from % (3 * HOUR))
    const inFirst = from + 2 * HOUR < first + 3 * HOUR ? 2 : 1
    expect(letter).toMatchObject({ at: time(first), spanMs: 3 * HOUR, started: [inFirst, 2 - inFirst] })
  }
  await expectTrends()
  const counts = { queued: 0, running: 0, waiting: 1, paused: 0, succeeded: 4, failed: 1, cancelled: 1 }
  expect((await facets()).status).toEqual(counts)
  expect(await facets(`since=${time(ended)}`)).toMatchObject({ status: { succeeded: 0, cancelled: 1, waiting: 1 } })
  expect(await facets()).toMatchObject({
    app: [
      { app: 'shop', runs: 4 },
      { app: 'mail', runs: 2 },
      { app: 'steps', runs: 1 },
    ],
    workflow: expect.arrayContaining([{ app: 'shop', workflow: 'order', runs: 3 }]),
    waitingFor: { event: 1, sleep: 0 },
    waits: [{ status: 'waiting', waitingFor: 'event', runs: 1 }],
  })
  // Each count applies the other filters, as a list of runs with both filters does.
  expect(await facets('status=succeeded,running')).toMatchObject({
    status: counts,
    app: [{ app: 'mail', runs: 2 }, { app: 'shop', runs: 2 }, { runs: 1 }],
    waitingFor: { event: 1 },
  })
  expect(await facets('status=failed&waitingFor=event')).toMatchObject({
    status: { waiting: 1, succeeded: 0, failed: 0 },
    workflow: [],
    waitingFor: { event: 0 },
  })
  // With an end of the window, runs in flight count at their creation.
  const nothing = { ...counts, waiting: 0, succeeded: 0, failed: 0, cancelled: 0 }
  expect((await facets(window)).status).toEqual(counts)
  expect((await facets(`since=${time(from)}&until=${time(from + HOUR)}`)).status).toEqual({
    ...nothing,
    succeeded: 4,
    failed: 1,
  })
  const later = await facets(`since=${time(from + HOUR)}&until=${time(from + 4 * HOUR)}`)
  expect(later).toMatchObject({ status: { ...nothing, cancelled: 1, waiting: 1 }, waitingFor: { event: 1 } })
  expect((await facets(`since=${time(from + 3 * HOUR)}&until=${time(from + 4 * HOUR)}`)).status).toEqual(nothing)
  expect(await facets('workflow=refund')).toMatchObject({
    status: { cancelled: 1, succeeded: 0 },
    app: [{ app: 'shop', runs: 1 }],
  })

  const all = await stats()
  expect(all.map(({ workflow }) => workflow)).toEqual(['order', 'letter', 'refund', 'stepped'])
  expect(all[0]).toEqual({
    app: 'shop',
    heldBy: { concurrency: 0, throttle: 0, runner: 0, 'workflow-paused': 0 },
    onFailure: { succeeded: 0, failed: 0, cancelled: 0, inFlight: 0 },
    cleanup: { succeeded: 0, failed: 0, cancelled: 0, inFlight: 0 },
    workflow: 'order',
    ...orders,
    queueP95Ms: expect.any(Number),
    inFlight: 0,
    held: 0,
    lastFailure: { runId: failed.id, at: failed.finishedAt, code: 'runner_rejected', message: 'é'.repeat(200) },
    steps: [],
  })
  expect(all[1]).toMatchObject({ app: 'mail', started: 2, succeeded: 1, inFlight: 1, held: 0 })
  expect((await stats('workflow=stepped'))[0]?.steps).toEqual([
    { name: 'pack', count: 1, totalMs: expect.any(Number), p95Ms: expect.any(Number) },
    { name: 'ship', count: 1, totalMs: expect.any(Number), p95Ms: expect.any(Number) },
  ])
  expect(await stats('app=mail&limit=1')).toHaveLength(1)
  expect(await stats(`since=${time(ended + HOUR)}`)).toMatchObject([{ workflow: 'letter', started: 0, inFlight: 1 }])
  // Only the first hour: later runs are not counted; the runs in flight are those of now.
  const early = await stats(`since=${time(from)}&until=${time(from + HOUR)}`)
  expect(early.map(({ workflow, started }) => [workflow, started])).toEqual([
    ['order', 3],
    ['letter', 1],
    ['stepped', 1],
  ])
  expect(early).toMatchObject([{ ...orders, lastFailure: { runId: failed.id } }, { succeeded: 1, inFlight: 1 }, {}])
  expect(
    (await stats(`since=${time(from + HOUR)}&until=${time(ended + HOUR)}`)).map(({ workflow }) => workflow),
  ).toEqual(['refund', 'letter'])
  for (const query of ['workflows/stats?until=5', 'workflows/stats?trend=many', 'runs/facets?until=x'])
    expect(await api.get(`/${query}`), query).toMatchObject({ status: 400, code: 'invalid_request' })

  clock.jump(3 * DAY)
  await pass(async () => (await api.get(`/runs/${cancelled.id}`)).status === 404)
  await pass(async () => (await api.get(`/runs/${failed.id}`)).status === 404)
  // Its wait has timed out.
  await api.reaches(waiting.id, 'succeeded')
  await expectSeries()
  await expectTrends()
  expect((await facets()).status).toEqual({ ...counts, waiting: 0, succeeded: 5 })
  expect(await stats()).toMatchObject([{ workflow: 'letter', started: 0, succeeded: 1, inFlight: 0 }])
})

test('without times there are 24 hours, the current one last', async () => {
  const points = await series()
  const hour = clock.now() - (clock.now() % HOUR)
  expect([points.length, points.at(0)?.at, points.at(-1)?.at]).toEqual([24, time(hour - 23 * HOUR), time(hour)])
  expect(await series(`since=${time(hour)}&until=${time(hour)}`)).toEqual([])
})

test.each([
  [`since=${time(clock.now() - 63 * HOUR)}&step=5m`, 'step'],
  [`since=${time(clock.now() - 9 * DAY)}&until=${time(clock.now() - 8 * DAY)}&step=5m`, 'step'],
  [`since=${time(clock.now() - 31.5 * DAY)}`, 'step'],
  ['step=1m', 'step'],
  ['since=yesterday', 'since'],
  ['until=', 'until'],
  ['status=failed', 'status'],
])('GET /runs/series?%s is 400, naming %s', async (query, field) => {
  const answer = await api.get(`/runs/series?${query}`)
  expect(answer).toMatchObject({ status: 400, code: 'invalid_request' })
  expect(answer.text).toContain(field)
})
