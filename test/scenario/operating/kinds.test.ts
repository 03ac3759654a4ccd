// On-failure runs in statistics and lists (docs/console.md#what-is-counted): they are labelled, listed, and counted separately.

import type { ErrorGroup, RunFacets, RunSeriesPoint, RunStats, RunSummary, WorkflowStats } from '@perdure/protocol'
import { expect, test } from 'vitest'
import {
  flow,
  type Handler,
  openDestination,
  PlainRunner,
  returned,
  run,
  StepFailure,
  scenario,
  unique,
  until,
} from '../../kit/index.ts'

const KEY = 'a-secret-key-of-this-test'
const keys = [{ label: 'test', namespace: 'default', kind: 'secret', key: KEY }]
const env = { ENGINE_API_KEYS: JSON.stringify(keys), ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' }
const { engine } = await scenario({ realTime: true, env })
const api = engine.api.as(KEY)

/** A workflow that fails, with a failure handler. */
async function failing(follow: Handler): Promise<{ app: string; name: string }> {
  const name = unique('payment')
  const handler: Handler = (invoke, record) => (invoke.ctx.onFailure ? follow : breaks('no card'))(invoke, record)
  const workflows = { [name]: { handler, registration: { onFailure: true } } }
  const runner = await new PlainRunner({ workflows }).listen()
  await runner.register(api)
  return { app: runner.app, name }
}

const breaks = (message: string) =>
  flow([
    run('charge', () => {
      throw new StepFailure(message, { retriable: false })
    }),
  ])

/** Sends an event for each failure handler with this end, and waits for all on-failure runs. */
async function failures(handlersEnd: ('succeeded' | 'failed')[]) {
  const ends = [...handlersEnd]
  const { app, name } = await failing((invoke, record) =>
    ends.shift() === 'failed' ? breaks('no card')(invoke, record) : returned('told'),
  )
  for (let i = 0; i < handlersEnd.length; i++) {
    const { runId } = await api.send({ app, name })
    await api.failed(runId)
    await until(async () => (await api.runs(`?parentRunId=${runId}`))[0]?.finishedAt !== undefined)
  }
  return { app, name }
}

const get = async <T>(path: string) => (await api.get(path)).json as T

test('five payments that failed and were handled are five failures of five', async () => {
  const { app, name } = await failures(['succeeded', 'succeeded', 'succeeded', 'succeeded', 'failed'])
  const [stats] = await get<WorkflowStats[]>(`/workflows/stats?app=${app}&trend=1`)
  expect(stats).toMatchObject({
    ...{ workflow: name, started: 5, succeeded: 0, failed: 5, cancelled: 0, inFlight: 0, held: 0 },
    onFailure: { succeeded: 4, failed: 1, cancelled: 0, inFlight: 0 },
    steps: [{ name: 'charge', count: 5 }],
  })
  expect(stats?.trend?.started.reduce((a, b) => a + b)).toBe(5)
  const points = await get<RunSeriesPoint[]>(`/runs/series?app=${app}`)
  const sum = (of: 'started' | 'succeeded' | 'failed') => points.reduce((all, point) => all + point[of], 0)
  expect([sum('started'), sum('succeeded'), sum('failed')]).toEqual([5, 0, 5])

  // A list hides nothing, and labels these runs.
  const runs = await api.runs(`?app=${app}`)
  const followers = runs.filter(({ kind }) => kind === 'onFailure')
  expect([runs.length, followers.length]).toEqual([10, 5])
  for (const follower of followers) expect(follower.parentRunId).toBeDefined()
  expect(await api.runs(`?app=${app}&kind=run`)).toEqual(runs.filter(({ kind }) => kind === undefined))
  expect(await api.runs(`?app=${app}&kind=onFailure&status=failed`)).toHaveLength(1)
  expect(await get<RunStats>(`/runs/stats?app=${app}`)).toMatchObject({ total: 10, succeeded: 4, failed: 6 })
  expect(await get<RunStats>(`/runs/stats?app=${app}&kind=run`)).toMatchObject({ total: 5, failed: 5, successRate: 0 })
  const facets = await get<RunFacets>(`/runs/facets?app=${app}`)
  expect(facets).toMatchObject({
    ...{ kind: { run: 5, onFailure: 5 }, status: { failed: 6, succeeded: 4 } },
    workflow: [{ runs: 10 }],
  })
  expect(await get<RunFacets>(`/runs/facets?app=${app}&kind=run`)).toMatchObject({
    ...{ kind: { run: 5, onFailure: 5 }, status: { failed: 5, succeeded: 0 } },
    workflow: [{ runs: 5 }],
  })
  expect(await get<RunFacets>(`/runs/facets?app=${app}&status=succeeded`)).toMatchObject({
    kind: { run: 0, onFailure: 4 },
  })
  const preview = await api.post('/bulk', { action: 'replay', filter: { app, kind: 'onFailure' }, dryRun: true })
  expect(preview.json).toMatchObject({ matched: 5 })

  // The failure handler that failed is a separate group, although its error equals the handler's.
  const groups = await get<ErrorGroup[]>(`/errors?app=${app}`)
  expect(groups.map(({ count, kind }) => [count, kind])).toEqual([
    [5, undefined],
    [1, 'onFailure'],
  ])
  expect(new Set(groups.map(({ fingerprint }) => fingerprint)).size).toBe(2)
  const last = await get<RunSummary>(`/runs/${stats?.lastFailure?.runId}`)
  expect(last.kind).toBeUndefined()
})

test('a notice about an on-failure run says that it is one, and so does its replay', async () => {
  const destination = await openDestination()
  const { app, name } = await failing(() => returned('told'))
  const endpoint = { app, url: destination.url, eventKinds: ['run.failed', 'run.succeeded'] }
  expect((await api.post('/webhook-endpoints', endpoint)).status).toBe(201)
  const { runId } = await api.send({ app, name })
  await until(() => destination.requests.length === 2)
  const kinds = destination.requests.map(({ body }) => {
    const { type, data } = JSON.parse(String(body)) as { type: string; data: { run: RunSummary } }
    return [type, data.run.kind]
  })
  expect(new Map(kinds as [string, unknown][])).toEqual(
    new Map([
      ['run.failed', undefined],
      ['run.succeeded', 'onFailure'],
    ]),
  )
  const [follower] = await api.runs(`?parentRunId=${runId}`)
  const { json } = await api.post(`/runs/${follower?.id}/replay`)
  expect(await get(`/runs/${(json as { id: string }).id}`)).toMatchObject({ kind: 'onFailure', replayOf: follower?.id })
})

test('an unknown kind is refused, with the kinds there are', async () => {
  const answer = await api.get(`/runs?kind=${unique('none')}`)
  expect([answer.status, answer.code]).toEqual([400, 'invalid_request'])
  expect(answer.text).toContain('onFailure')
})
