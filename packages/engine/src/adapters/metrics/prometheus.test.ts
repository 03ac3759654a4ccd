import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Gauges } from '../../ports/metrics.ts'
import type { StoreStats } from '../../ports/store.ts'
import { NAMED_WORKFLOWS_MAX, PrometheusMetrics } from './prometheus.ts'

const IDLE: Gauges = {
  lanes: [
    { lane: 'runs', underWay: 3, lagMs: 1500, oldestReadyAt: 1_700_000_000_500 },
    { lane: 'timers', underWay: 0, lagMs: 0 },
    { lane: 'deliveries', underWay: 0 },
  ],
  acceptsWaiting: 7,
  sockets: 2,
  memory: { runs: { max: 800, used: 300, waiting: 2 }, messages: { max: 400, used: 0, waiting: 1 } },
  streams: { run: 1, runs: 0, events: 4, topics: 2 },
  dependencies: { store: 'ok', queue: 'unavailable' },
  draining: false,
  held: false,
}

const ORDER = { namespace: 'default', app: 'shop', workflow: 'order' }

/** The sample lines of the metric. */
const linesOf = (text: string, name: string) =>
  text.split('\n').filter(line => new RegExp(`^${name}(_bucket|_sum|_count)?[{ ]`).test(line))

test('what was counted is written with its labels, and what was never counted is 0', async () => {
  const metrics = new PrometheusMetrics()
  metrics.eventAccepted()
  metrics.runStarted(ORDER, 'run')
  metrics.runStarted(ORDER, 'run')
  metrics.runEnded(ORDER, { kind: 'run', status: 'failed' })
  metrics.runEnded(ORDER, { kind: 'onFailure', status: 'succeeded' })
  metrics.deliveryAttempted('http_error')
  metrics.leaseLost()
  const text = await metrics.text('default', IDLE)
  expect(linesOf(text, 'perdure_events_accepted_total')).toEqual(['perdure_events_accepted_total 1'])
  expect(linesOf(text, 'perdure_runs_started_total')).toEqual([
    'perdure_runs_started_total{kind="run"} 2',
    'perdure_runs_started_total{kind="onFailure"} 0',
    'perdure_runs_started_total{kind="cleanup"} 0',
  ])
  expect(linesOf(text, 'perdure_runs_ended_total')).toEqual([
    'perdure_runs_ended_total{kind="run",status="succeeded"} 0',
    'perdure_runs_ended_total{kind="run",status="failed"} 1',
    'perdure_runs_ended_total{kind="run",status="cancelled"} 0',
    'perdure_runs_ended_total{kind="onFailure",status="succeeded"} 1',
    'perdure_runs_ended_total{kind="onFailure",status="failed"} 0',
    'perdure_runs_ended_total{kind="onFailure",status="cancelled"} 0',
    'perdure_runs_ended_total{kind="cleanup",status="succeeded"} 0',
    'perdure_runs_ended_total{kind="cleanup",status="failed"} 0',
    'perdure_runs_ended_total{kind="cleanup",status="cancelled"} 0',
  ])
  expect(linesOf(text, 'perdure_workflow_runs_ended_total')).toEqual([
    'perdure_workflow_runs_ended_total{app="shop",workflow="order",kind="run",status="failed"} 1',
    'perdure_workflow_runs_ended_total{app="shop",workflow="order",kind="onFailure",status="succeeded"} 1',
  ])
  expect(linesOf(text, 'perdure_delivery_attempts_total')).toEqual([
    'perdure_delivery_attempts_total{outcome="succeeded"} 0',
    'perdure_delivery_attempts_total{outcome="http_error"} 1',
    'perdure_delivery_attempts_total{outcome="timeout"} 0',
    'perdure_delivery_attempts_total{outcome="connection_error"} 0',
    'perdure_delivery_attempts_total{outcome="skipped"} 0',
  ])
  expect(linesOf(text, 'perdure_leases_lost_total')).toEqual(['perdure_leases_lost_total 1'])
  expect(linesOf(text, 'perdure_checkpoints_total')).toEqual(['perdure_checkpoints_total 0'])
  expect(linesOf(text, 'perdure_deliveries_ended_total')).toEqual(
    ['succeeded', 'exhausted', 'dead'].map(status => `perdure_deliveries_ended_total{status="${status}"} 0`),
  )
  const invokes = linesOf(text, 'perdure_invokes_total')
  expect(invokes).toHaveLength(14)
  for (const line of invokes) expect(line).toMatch(/ 0$/)
})

test('every metric has its help and its type once, those of the process too', async () => {
  const text = await new PrometheusMetrics().text('default', IDLE)
  for (const kind of ['HELP', 'TYPE']) {
    const names = [...text.matchAll(new RegExp(`^# ${kind} (\\S+) `, 'gm'))].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(30)
    expect(names.length).toBe(new Set(names).size)
    expect(names).toContain('perdure_lane_lag_seconds')
    expect(names).toContain('nodejs_eventloop_lag_p99_seconds')
    expect(names).toContain('process_resident_memory_bytes')
  }
})

test('two scrapes at once give no delays of an event loop that nobody observed', async () => {
  const metrics = new PrometheusMetrics()
  const texts = await Promise.all([metrics.text('default', IDLE), metrics.text('default', IDLE)])
  const values = texts
    .flatMap(text => [...text.matchAll(/^nodejs_eventloop_lag\w* (.*)$/gm)])
    .map(([, value]) => Number(value))
  expect(values.length).toBeGreaterThan(0)
  for (const value of values) expect(value).toBeLessThan(60)
})

test('a duration falls into the buckets of its transport, in seconds', async () => {
  const metrics = new PrometheusMetrics()
  for (const durationMs of [2, 30, 9_000_000]) metrics.invoked({ transport: 'http', outcome: 'opcodes', durationMs })
  const lines = linesOf(await metrics.text('default', IDLE), 'perdure_invoke_duration_seconds')
  const of = (end: string) => lines.filter(line => line.includes('transport="http"') && line.endsWith(end))
  expect(of('le="0.002"} 1')).toHaveLength(1)
  expect(of('le="0.025"} 1')).toHaveLength(1)
  expect(of('le="0.05"} 2')).toHaveLength(1)
  expect(of('le="7200"} 2')).toHaveLength(1)
  expect(of('le="+Inf"} 3')).toHaveLength(1)
  expect(lines).toContain('perdure_invoke_duration_seconds_sum{transport="http"} 9000.032')
  expect(lines).toContain('perdure_invoke_duration_seconds_count{transport="http"} 3')
  expect(lines).toContain('perdure_invoke_duration_seconds_count{transport="connect"} 0')
})

test('gauges are in seconds, and values that the store did not report are left out', async () => {
  const text = await new PrometheusMetrics().text('default', IDLE)
  expect(linesOf(text, 'perdure_lane_lag_seconds')).toEqual([
    'perdure_lane_lag_seconds{lane="runs"} 1.5',
    'perdure_lane_lag_seconds{lane="timers"} 0',
  ])
  expect(linesOf(text, 'perdure_lane_oldest_ready_timestamp_seconds')).toEqual([
    'perdure_lane_oldest_ready_timestamp_seconds{lane="runs"} 1700000000.5',
  ])
  expect(linesOf(text, 'perdure_dependency_up')).toEqual([
    'perdure_dependency_up{dependency="store"} 1',
    'perdure_dependency_up{dependency="queue"} 0',
  ])
  expect(linesOf(text, 'perdure_limiter_entries')).toEqual([])
})

test('beyond a hundred names every further one is counted as other', async () => {
  const metrics = new PrometheusMetrics()
  for (let i = 0; i < NAMED_WORKFLOWS_MAX + 5; i++) metrics.runStarted({ ...ORDER, workflow: `flow-${i}` }, 'run')
  metrics.runStarted({ ...ORDER, workflow: 'flow-0' }, 'run')
  const lines = linesOf(await metrics.text('default', IDLE), 'perdure_workflow_runs_started_total')
  expect(lines).toHaveLength(NAMED_WORKFLOWS_MAX + 1)
  expect(lines[0]).toBe('perdure_workflow_runs_started_total{app="shop",workflow="flow-0",kind="run"} 2')
  expect(lines.at(-1)).toBe('perdure_workflow_runs_started_total{app="other",workflow="other",kind="run"} 5')
})

test('the counts of a registered workflow exist before its first run', async () => {
  const metrics = new PrometheusMetrics()
  const known = [
    { app: 'shop', name: 'order', onFailure: true },
    { app: 'shop', name: 'refund', onFailure: false },
  ]
  const ended = async () => linesOf(await metrics.text('default', IDLE, known), 'perdure_workflow_runs_ended_total')
  const before = await ended()
  expect(before).toHaveLength(9)
  for (const line of before) expect(line).toMatch(/ 0$/)
  metrics.runEnded(ORDER, { kind: 'run', status: 'failed' })
  const failed = 'perdure_workflow_runs_ended_total{app="shop",workflow="order",kind="run",status="failed"}'
  expect(before).toContain(`${failed} 0`)
  expect(await ended()).toContain(`${failed} 1`)
})

test("another namespace's workflows are not named, though they are counted", async () => {
  const metrics = new PrometheusMetrics()
  metrics.runStarted({ namespace: 'north', app: 'secret-app', workflow: 'secret-flow' }, 'run')
  const text = await metrics.text('south', IDLE)
  expect(text).not.toContain('secret')
  expect(linesOf(text, 'perdure_runs_started_total')).toContain('perdure_runs_started_total{kind="run"} 1')
  expect(await metrics.text('north', IDLE)).toContain('{app="secret-app",workflow="secret-flow",kind="run"} 1')
})

test('no character of a name ends its label', async () => {
  const metrics = new PrometheusMetrics()
  metrics.runStarted({ ...ORDER, workflow: 'a"} 1\\' }, 'run')
  const text = await metrics.text('default', IDLE)
  expect(linesOf(text, 'perdure_workflow_runs_started_total')).toEqual([
    'perdure_workflow_runs_started_total{app="shop",workflow="a\\"} 1\\\\",kind="run"} 1',
  ])
})

test('docs/metrics.md lists every metric, and no other', async () => {
  const store = {
    ...{ commits: 1, stale: { flow: 2 } as StoreStats['stale'], requests: 3, batches: 1, transactions: 1, pending: 0 },
    batchSizes: { bounds: [1, 2], counts: [1, 0, 1], sum: 3 },
  }
  const text = await new PrometheusMetrics().text('default', { ...IDLE, store, limiterEntries: 1, withoutRunner: [] })
  const written = [...text.matchAll(/^# TYPE (perdure_\S+) /gm)].map(([, name]) => name)
  const page = readFileSync(new URL('../../../../../docs/metrics.md', import.meta.url), 'utf8')
  const cells = page.split('\n').flatMap(line => (line.startsWith('| `perdure_') ? [line.split('|')[1]] : []))
  const listed = cells.flatMap(cell => [...(cell ?? '').matchAll(/`(perdure_\w+)/g)].map(([, name]) => name))
  expect(listed.sort()).toEqual(written.sort())
  expect(linesOf(text, 'perdure_store_batch_requests')).toEqual([
    'perdure_store_batch_requests_bucket{le="1"} 1',
    'perdure_store_batch_requests_bucket{le="2"} 1',
    'perdure_store_batch_requests_bucket{le="+Inf"} 2',
    'perdure_store_batch_requests_sum 3',
    'perdure_store_batch_requests_count 2',
  ])
})
