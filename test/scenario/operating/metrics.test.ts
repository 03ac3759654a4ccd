// The metrics as a scraper reads them (`GET /metrics`): they follow the engine's work, and show no names of other namespaces.

import { expect, test } from 'vitest'
import {
  type Api,
  flow,
  type Handler,
  opcode,
  openDestination,
  openEngine,
  PlainRunner,
  returned,
  run,
  StepFailure,
  scenario,
  sleep,
  step,
  unique,
  until,
  wait,
} from '../../kit/index.ts'
import { ConnectRunner } from '../../kit/runner/connect-runner.ts'
import { answeredWith, ScriptedTransport } from '../../kit/runner/scripted-transport.ts'

const NORTH = 'a-key-of-the-north'
const SOUTH = 'a-key-of-the-south'
const keys = [
  { label: 'north', namespace: 'north', kind: 'secret', key: NORTH },
  { label: 'south', namespace: 'south', kind: 'read', key: SOUTH },
]
const env = { ENGINE_API_KEYS: JSON.stringify(keys), ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' }
const { engine } = await scenario({ realTime: true, env })
const api = engine.api.as(NORTH)

/** Every sample, by its name and labels as written. */
async function scrape(as: Api = api): Promise<Map<string, number>> {
  const { status, text, headers } = await as.get('/metrics')
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map(line => {
      const [, sample = '', value] = /^(\S+|\S+\{.*\}) (\S+)$/.exec(line) ?? []
      expect(sample, line).not.toBe('')
      return [sample, Number(value)]
    }),
  )
}

/** How much each of the samples has risen since the last scrape. */
async function risen(names: readonly string[], during: () => Promise<unknown>): Promise<number[]> {
  const before = await scrape()
  await during()
  const after = await scrape()
  return names.map(name => (after.get(name) ?? 0) - (before.get(name) ?? 0))
}

async function serve(handler: Handler, registration = {}): Promise<{ name: string; app: string }> {
  const name = unique('measured')
  const runner = await new PlainRunner({ workflows: { [name]: { handler, registration } } }).listen()
  await runner.register(api)
  return { name, app: runner.app }
}

test('a run that succeeds counts its event, its start, its passes and its end', async () => {
  const { name, app } = await serve(flow([run('one'), run('two')]))
  const of = `app="${app}",workflow="${name}"`
  const names = [
    'perdure_events_accepted_total',
    'perdure_runs_started_total{kind="run"}',
    'perdure_runs_ended_total{kind="run",status="succeeded"}',
    `perdure_workflow_runs_started_total{${of},kind="run"}`,
    `perdure_workflow_runs_ended_total{${of},kind="run",status="succeeded"}`,
    'perdure_invokes_total{transport="http",outcome="opcodes"}',
    'perdure_invokes_total{transport="http",outcome="returned"}',
    'perdure_invoke_duration_seconds_count{transport="http"}',
  ]
  const rises = await risen(names, async () => api.succeeded((await api.send({ name })).runId))
  expect(rises).toEqual([1, 1, 1, 1, 1, 2, 1, 3])
})

test('every commit is counted, and how many of them shared a transaction', async () => {
  const { name } = await serve(flow([run('one')]))
  const names = ['perdure_store_commits_total', 'perdure_store_transactions_total']
  const [commits, transactions] = await risen(names, async () => api.succeeded((await api.send({ name })).runId))
  // The event, the step and the end. A scrape probes the store with its own write.
  expect(commits).toBe(3)
  expect(transactions).toBeGreaterThanOrEqual(3)
  const after = await scrape()
  const requests = after.get('perdure_store_requests_total')
  expect(after.get('perdure_store_batch_requests_bucket{le="+Inf"}')).toBeGreaterThan(0)
  expect(after.get('perdure_store_batch_requests_sum')).toBe(requests)
})

test('failed runs are counted apart, and so are refused and broken passes', async () => {
  const failing = flow([
    run('one', () => {
      throw new StepFailure('no', { retriable: false })
    }),
  ])
  const { name } = await serve(failing)
  const rejecting = await serve(() => ({ status: 400, body: JSON.stringify({ message: 'no' }) }))
  const names = [
    'perdure_runs_ended_total{kind="run",status="failed"}',
    'perdure_invokes_total{transport="http",outcome="rejected"}',
  ]
  const rises = await risen(names, async () => {
    await api.failed((await api.send({ name })).runId)
    await api.failed((await api.send({ name: rejecting.name })).runId)
  })
  expect(rises).toEqual([2, 1])
})

test('a run that waits and is cancelled has ended; a wait lost to an event is a stale commit', async () => {
  const { name } = await serve(flow([wait('parcel', unique('parcel'))]))
  const names = ['perdure_runs_ended_total{kind="run",status="cancelled"}']
  const rises = await risen(names, async () => {
    const { runId } = await api.send({ name })
    await api.reaches(runId, 'waiting')
    await api.post(`/runs/${runId}/cancel`)
    await api.reaches(runId, 'cancelled')
  })
  expect(rises).toEqual([1])
  const awaited = unique('awaited')
  const waiting = await serve(flow([wait('event', awaited)]))
  const stale = ['perdure_store_stale_commits_total{guard="waiters"}']
  const [lost] = await risen(stale, async () => {
    const { runId } = await api.send({ name: waiting.name })
    await api.reaches(runId, 'waiting')
    await api.send({ name: awaited })
    await api.succeeded(runId)
  })
  expect(lost).toBe(1)
})

test('deliveries are counted by how they went', async () => {
  const destination = await openDestination()
  const { name } = await serve(flow([step('Webhook', 'notify', { webhookUrl: destination.url, data: 1 })]))
  const names = [
    'perdure_delivery_attempts_total{outcome="succeeded"}',
    'perdure_deliveries_ended_total{status="succeeded"}',
  ]
  const before = await scrape()
  await api.succeeded((await api.send({ name })).runId)
  await until(async () => {
    const after = await scrape()
    return names.every(name => (after.get(name) ?? 0) === (before.get(name) ?? 0) + 1)
  })
})

test('sockets, passes and streams are counted while they are open', async () => {
  const name = unique('held')
  const release: (() => void)[] = []
  const handler = () => new Promise<ReturnType<typeof returned>>(resolve => release.push(() => resolve(returned(1))))
  const runner = new ConnectRunner({ workflows: { [name]: handler } })
  await runner.register(api)
  expect((await scrape()).get('perdure_connect_sockets')).toBe(1)
  const { runId } = await api.send({ name })
  await until(() => release.length === 1)
  const stream = api.stream(runId)
  await until(async () => (await scrape()).get('perdure_streams_open{kind="run"}') === 1)
  const held = await scrape()
  expect(held.get('perdure_lane_under_way{lane="runs"}')).toBe(1)
  expect(held.get('perdure_lane_lag_seconds{lane="runs"}')).toBe(0)
  expect(held.get('perdure_dependency_up{dependency="store"}')).toBe(1)
  release[0]?.()
  await api.succeeded(runId)
  await stream
  await until(async () => {
    const after = await scrape()
    return (
      after.get('perdure_lane_under_way{lane="runs"}') === 0 &&
      after.get('perdure_streams_open{kind="run"}') === 0 &&
      after.get('perdure_invokes_total{transport="connect",outcome="returned"}') === 1
    )
  })
  await runner.close()
  await until(async () => (await scrape()).get('perdure_connect_sockets') === 0)
})

test('checkpoints are counted as they become durable', async () => {
  const transport = new ScriptedTransport()
  const scripted = await openEngine({ ports: { transport } })
  const name = unique('checkpointed')
  transport.scripts.set(name, async ({ checkpoint }) => {
    await checkpoint([opcode('StepRun', 'one', { data: 1 })])
    await checkpoint([opcode('StepRun', 'two', { data: 2 })])
    expect((await scrape(scripted.api)).get('perdure_checkpoints_total')).toBe(2)
    return answeredWith(returned('done') as { status: number })
  })
  const registration = { app: unique('app'), url: 'http://127.0.0.1:9/', protocolVersion: 1 }
  await scripted.api.post('/register', { ...registration, workflows: [{ name }] })
  await scripted.api.succeeded((await scripted.api.send({ name })).runId)
})

test('a workflow counts from its registration: the first failure is a rise, and the run of its handler is counted apart', async () => {
  const breaks = run('charge', () => {
    throw new StepFailure('no card', { retriable: false })
  })
  const { name, app } = await serve(
    (invoke, record) => (invoke.ctx.onFailure ? returned('told') : flow([breaks])(invoke, record)),
    { onFailure: true },
  )
  const ended = (kind: string, status: string) =>
    `perdure_workflow_runs_ended_total{app="${app}",workflow="${name}",kind="${kind}",status="${status}"}`
  expect((await scrape()).get(ended('run', 'failed'))).toBe(0)
  const { runId } = await api.send({ name })
  await api.failed(runId)
  await until(async () => (await scrape()).get(ended('onFailure', 'succeeded')) === 1)
  const after = await scrape()
  expect([after.get(ended('run', 'failed')), after.get(ended('run', 'succeeded'))]).toEqual([1, 0])
})

test('runs of an app without a runner are counted until one arrives', async () => {
  const name = unique('stranded')
  const waiting = async (app: string) => (await scrape()).get(`perdure_runs_without_runner{app="${app}"}`)
  const runner = await new PlainRunner({ workflows: { [name]: flow([]) } }).listen()
  await runner.register(api)
  expect(await waiting(runner.app)).toBe(0)
  await runner.close()
  const { runId } = await api.send({ name })
  await until(async () => (await waiting(runner.app)) === 1)
  expect((await scrape()).get('perdure_lane_lag_seconds{lane="runs"}')).toBe(0)
  const next = await new PlainRunner({ app: runner.app, workflows: { [name]: flow([]) } }).listen()
  await next.register(api)
  await api.succeeded(runId)
  await until(async () => (await waiting(runner.app)) === 0)
})

test('a run that sleeps is not late', async () => {
  const idle = await openEngine({ env: { ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' } })
  const name = unique('late')
  await idle.runner({ workflows: { [name]: flow([sleep('nap', 60_000)]) } })
  const { runId } = await idle.api.send({ name })
  await idle.api.reaches(runId, 'waiting')
  const samples = await scrape(idle.api)
  expect(samples.get('perdure_lane_lag_seconds{lane="runs"}')).toBe(0)
  expect(samples.has('perdure_lane_oldest_ready_timestamp_seconds{lane="runs"}')).toBe(false)
})

test("a key of another namespace reads the engine's numbers, and none of the names of others", async () => {
  const { name, app } = await serve(flow([run('one')]))
  await api.succeeded((await api.send({ name })).runId)
  const { text } = await engine.api.as(SOUTH).get('/metrics')
  expect(text).not.toContain(app)
  expect(text).not.toContain(name)
  expect(text).toMatch(/^perdure_runs_started_total\{kind="run"\} [1-9]/m)
  expect((await engine.api.get('/metrics')).status).toBe(401)
})
