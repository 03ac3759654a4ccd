// `perdure verify` finds no violation in the store of an engine, and finds every kind of planted violation.

import { copyFileSync } from 'node:fs'
import type { RunSummary } from '@perdure/protocol'
import { beforeAll, expect, test } from 'vitest'
import { DELIVERY_CHECKS, PAYLOAD_CHECKS } from '../../../packages/engine/src/adapters/sql/verify/row-checks.ts'
import { RUN_CHECKS } from '../../../packages/engine/src/adapters/sql/verify/run-checks.ts'
import { STREAM_CHECKS } from '../../../packages/engine/src/adapters/sql/verify/stream-checks.ts'
import { TURN_CHECKS } from '../../../packages/engine/src/adapters/sql/verify/turn-checks.ts'
import { violations } from '../../kit/engine/violations.ts'
import {
  child,
  emit,
  flow,
  openDatabase,
  openDestination,
  openEngine,
  perdure,
  run,
  StepFailure,
  sleep,
  step,
  tempStoreFile,
  unique,
  until,
  wait,
} from '../../kit/index.ts'
import { Starts } from '../../kit/runner/limited.ts'

let file: string

const WORKFLOWS = [
  ...(['all', 'kid', 'parked', 'retried', 'failing', 'slotted', 'rated', 'buffered', 'timed'] as const),
  ...(['spends', 'inbox', 'limited'] as const),
] as const

beforeAll(async () => {
  const engine = await openEngine({ onDisk: true, env: { ENGINE_WEBHOOK_ALLOW_PRIVATE: '1' } })
  const { api } = engine
  file = tempStoreFile()
  const destination = await openDestination()
  const names = Object.fromEntries(WORKFLOWS.map(name => [name, unique(name)])) as Record<
    (typeof WORKFLOWS)[number],
    string
  >
  const { all, kid, parked, retried, failing, slotted, rated, buffered, timed, spends, inbox, limited } = names
  const runner = await engine.runner({
    workflows: {
      [all]: flow([
        run('first', () => 'x'.repeat(3000)),
        emit('say', unique('said'), { n: 1 }),
        step('Webhook', 'notify', { webhookUrl: destination.url, data: {} }),
        sleep('nap', 20),
        child('kid', kid, {}),
      ]),
      [kid]: { handler: flow([run('one')]), registration: { attributes: { kind: '"kid"' } } },
      [parked]: {
        handler: flow([child('waits', `${parked}-kid`, {})]),
        registration: { cancelOn: [{ event: 'never' }], singleton: { mode: 'skip' } },
      },
      [inbox]: { handler: flow([wait('hold', 'nothing')]), registration: { singleton: { mode: 'deliver' } } },
      [`${parked}-kid`]: flow([wait('hold', 'nothing', 3_600_000)]),
      [retried]: flow([run('again', () => Promise.reject(new StepFailure('later', { retryAfterMs: 3_600_000 })))]),
      [failing]: flow([run('no', () => Promise.reject(new StepFailure('no', { retriable: false })))]),
      [slotted]: { handler: flow([wait('hold', 'nothing')]), registration: { concurrency: { limit: 1 } } },
      [rated]: {
        handler: flow([run('one')]),
        registration: { throttle: { limit: 1, period: '1h' } },
      },
      [buffered]: { handler: flow([run('one')]), registration: { debounce: { period: '1h' } } },
      [spends]: {
        handler: flow([run('one'), child('kid', `${spends}-kid`, {})]),
        registration: { budget: { usd: 1, steps: 99, runs: 99 } },
      },
      [`${spends}-kid`]: flow([run('one')]),
      [limited]: flow([new Starts().limited('ask', 'openai')]),
      [timed]: { handler: flow([run('one')]), registration: { triggers: [{ cron: '0 0 1 1 *' }] } },
    },
  })
  const { app } = runner
  const hourly = { limit: 1, period: '1h' }
  await runner.register(api, { features: ['step-limits'], limits: { openai: hourly } })
  const long = { text: 'y'.repeat(5000) }
  const done = await api.send({ name: all, data: long })
  const given = await api.post(`/workflows/${app}/${timed}/runs`, { runId: 'run_given-1234' })
  expect(given.status, given.text).toBe(201)
  const spent = await api.send({ name: spends })
  await api.succeeded((await api.send({ name: limited })).runId)
  const lost = await api.send({ name: failing })
  const waiting = await Promise.all(
    [parked, retried, slotted, limited, inbox].map(name => api.send({ name, data: long })),
  )
  await api.post('/events', { name: buffered })
  await api.post('/events', { name: inbox })
  for (let i = 0; i < 3; i++) await api.send({ name: rated })
  for (const { runId } of waiting) await api.reaches(runId, 'waiting')
  await api.reaches(done.runId, 'succeeded')
  await api.reaches(lost.runId, 'failed')
  const [group] = (await api.get('/errors')).json as { fingerprint: string }[]
  expect((await api.put(`/errors/${group?.fingerprint}/state`, { state: 'ignored' })).status).toBe(200)
  expect((await api.put('/views/failed', { name: 'failed', query: 'status=failed' })).status).toBe(200)
  await api.reaches(spent.runId, 'succeeded')
  const fork = await api.post(`/runs/${spent.runId}/retry-from-step`, { step: 'kid' })
  await api.reaches((fork.json as RunSummary).id, 'succeeded')
  const isHeld = ({ waitingFor }: RunSummary) => waitingFor?.kind === 'throttle'
  await until(async () => (await api.runs(`?q=${rated}`)).filter(isHeld).length === 2)
  await until(async () => (await api.get('/webhook-deliveries?status=succeeded')).text.includes('dlv_'))
  // Also while the engine runs.
  expect(await violations(`sqlite:${engine.storeFile}`)).toEqual([])
  await engine.stop()
  copyFileSync(engine.storeFile, file)
})

const OF = (status: string) => `(SELECT id FROM runs WHERE status = '${status}' ORDER BY id LIMIT 1)`

/** Adds roll-ups with this many succeeded runs. */
const rollups = (...rows: [span: string, app: string, workflow: string, runs: number][]) =>
  `INSERT INTO run_rollups (span, namespace, app, workflow, at, started, succeeded, failed, cancelled, sum_ms, queue_sum_ms,
    histogram, queue_histogram) VALUES ${rows
      .map(
        ([span, app, workflow, runs]) =>
          `('${span}', 'south', '${app}', '${workflow}', 0, 0, ${runs}, 0, 0, 0, 0, '{}', '{}')`,
      )
      .join(', ')}`

/** A violation for every check. */
const PLANTED: [check: string, sql: string][] = [
  ['run.status', `UPDATE runs SET status = 'lost' WHERE id = ${OF('succeeded')}`],
  ['run.wake', `UPDATE runs SET status = 'queued', available_at = NULL WHERE id = ${OF('waiting')}`],
  ['run.wake', `UPDATE steps SET status = 'succeeded', finished_at = 1 WHERE status = 'waiting'`],
  ['run.queue', `UPDATE runs SET available_at = NULL WHERE status = 'queued' AND start_queue IS NOT NULL`],
  ['run.timer', `UPDATE runs SET available_at = available_at + 999999999 WHERE available_at IS NOT NULL`],
  ['run.ended', `UPDATE runs SET lease_owner = 'e' WHERE id = ${OF('succeeded')}`],
  ['run.filters', `UPDATE runs SET waiting_kind = NULL WHERE status = 'waiting'`],
  ['run.filters', `UPDATE runs SET error_key = NULL WHERE id = ${OF('failed')}`],
  ['run.times', `UPDATE runs SET finished_at = NULL WHERE id = ${OF('failed')}`],
  ['run.times', `UPDATE runs SET duration_ms = duration_ms + 1 WHERE id = ${OF('succeeded')}`],
  ['run.singleton', `UPDATE runs SET singleton_key = 'k', workflow = 'w', app = 'a' WHERE status = 'waiting'`],
  ['run.key', `UPDATE runs SET start_key = 'k', workflow = 'w', app = 'a' WHERE status = 'waiting'`],
  ['inbox.run', 'UPDATE runs SET inbox = NULL'],
  ['inbox.event', 'DELETE FROM events WHERE id IN (SELECT event_id FROM delivered_events)'],
  ['run.given', 'DELETE FROM given_run_ids'],
  ['given.run', `UPDATE given_run_ids SET run_id = 'run_none'`],
  ['run.watches', 'DELETE FROM run_watches'],
  ['watch.run', `UPDATE run_watches SET run_id = ${OF('succeeded')}`],
  ['step.run', `UPDATE runs SET status = 'cancelled', finished_at = 1 WHERE id = ${OF('waiting')}`],
  ['step.run', `DELETE FROM runs WHERE id = ${OF('succeeded')}`],
  ['step.status', `UPDATE steps SET next_attempt_at = NULL WHERE status = 'retrying'`],
  ['step.wait', `UPDATE steps SET namespace = NULL WHERE status = 'waiting'`],
  ['step.wait', `UPDATE steps SET match = '"data.id"' WHERE status = 'waiting'`],
  ['step.child', `UPDATE runs SET parent_step_index = 7 WHERE parent_step_index IS NOT NULL AND status = 'waiting'`],
  ['step.index', 'UPDATE steps SET idx = 9 WHERE idx = 1'],
  ['step.id', `UPDATE steps SET id = 'same'`],
  ['seq.twice', 'UPDATE steps SET seq = 5'],
  ['seq.range', `UPDATE steps SET seq = seq + 900000000 WHERE run_id = ${OF('succeeded')}`],
  ['seq.run', `INSERT INTO frames (run_id, seq, ts, status, attempt) VALUES ('run_none', 2, 1, 'queued', 1)`],
  ['run.readable', `UPDATE runs SET waiting_for = '{' WHERE id = ${OF('waiting')}`],
  ['step.readable', `UPDATE steps SET error = '{' WHERE error IS NOT NULL`],
  ['run.attributes', 'DELETE FROM run_attributes'],
  ['run.attributes', `UPDATE runs SET attributes = NULL`],
  ['run.attributes', `UPDATE run_attributes SET run_id = 'run_none'`],
  ['run.attributes', `UPDATE run_attributes SET ended = 'cancelled'`],
  ['run.attributes', `UPDATE run_attributes SET workflow = 'another'`],
  ['event.readable', `UPDATE events SET triggered = '{}'`],
  ['event.runs', `UPDATE events SET triggered = '[{"workflow":"w","app":"a","runId":"run_01Z"}]'`],
  ['run.event', 'DELETE FROM events'],
  ['step.event', `DELETE FROM events WHERE source = 'emit'`],
  ['step.delivery', 'DELETE FROM deliveries'],
  ['attempt.delivery', 'DELETE FROM deliveries'],
  ['delivery.status', 'UPDATE deliveries SET available_at = 1'],
  ['delivery.attempts', 'UPDATE deliveries SET attempt_count = 3'],
  ['delivery.attempts', 'UPDATE delivery_attempts SET attempt = 2'],
  ['payload.owner', `INSERT INTO payloads (id, body) VALUES ('run_none', 'x')`],
  ['run.budget', `DELETE FROM budgets WHERE name = 'steps'`],
  ['budget.run', 'DELETE FROM runs WHERE budgets IS NOT NULL'],
  ['budget.sum', `UPDATE budgets SET billionths = 1000000000 WHERE name = 'usd'`],
  ['budget.counted', `UPDATE budgets SET whole = whole + 1 WHERE name = 'steps'`],
  ['budget.counted', `UPDATE budgets SET whole = whole - 1 WHERE name = 'runs'`],
  [
    'slot.limit',
    `UPDATE runs SET lease_owner = 'e', available_at = 1, leased_without_slots = NULL, slot1 = (SELECT max(slot1) FROM runs),
      holds = (SELECT max(holds) FROM runs) WHERE status = 'waiting'`,
  ],
  ['step.turn', 'DELETE FROM limit_turns'],
  ['turn.step', 'UPDATE limit_turns SET granted_at = 1 WHERE granted_at IS NULL'],
  ['turn.step', `UPDATE steps SET status = 'cancelled' WHERE step_limit IS NOT NULL`],
  ['turn.pool', `DELETE FROM flow_rows WHERE policy = 'limit'`],
  ['turn.due', `UPDATE flow_rows SET available_at = NULL WHERE policy = 'limit'`],
  ['stream.rows', streamOf({ next: 3, chunks: 2 })],
  ['stream.chunks', streamOf({ next: 2, chunks: 1 })],
  ['stream.numbers', `${streamOf({ next: 2, chunks: 2 })}; UPDATE stream_rows SET n = 1`],
  ['stream.head', `${streamOf({ next: 2, chunks: 2 })}; DELETE FROM streams`],
  ['stream.run', `${streamOf({ next: 2, chunks: 2 })}; UPDATE streams SET run_id = 'run_0'`],
  ['run.counted', 'UPDATE runs SET late = 1'],
  ['rollup.levels', rollups(['1d', 'shop', 'order', 1], ['1d', 'shop', '', 1], ['1d', '', '', 2])],
  ['rollup.total', rollups(['all', 'shop', 'order', 2], ['1d', 'shop', 'order', 1], ['1d', 'shop', '', 1])],
  [
    'rollup.posts',
    `INSERT INTO endpoint_rollups (span, namespace, endpoint_id, at, outcome, duration_class, posts)
      VALUES ('1d', 'south', 'whe_1', 0, 'failed', 3, 2), ('1d', 'south', '', 0, 'failed', 3, 1)`,
  ],
  ['flow.readable', `UPDATE flow_rows SET state = '{'`],
  ['flow.readable', `UPDATE flow_rows SET key = 'other'`],
  ['flow.readable', `UPDATE flow_rows SET available_at = NULL WHERE policy = 'debounce'`],
  ['flow.readable', `UPDATE flow_rows SET due_at = NULL WHERE policy = 'debounce'`],
  ['scheduled.row', `INSERT INTO scheduled_terms (namespace, term, due_at, row_id) VALUES ('a', 'n:b', 1, 'c')`],
  ['workflow.schedule', `DELETE FROM flow_rows WHERE policy = 'cron'`],
  ['definition.kept', `DELETE FROM workflows WHERE name LIKE 'kid%'`],
  [
    'definition.kept',
    `WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 50)
      INSERT INTO workflow_definitions (namespace, app, workflow, registered_at, hash, definition)
      SELECT namespace, app, workflow, at, hash, definition FROM workflow_definitions, n WHERE workflow LIKE 'kid%'`,
  ],
  [
    'pause.kept',
    'INSERT INTO kept_pauses (namespace, app, name, paused_at) SELECT namespace, app, name, 1 FROM workflows',
  ],
  ['definition.readable', `UPDATE workflow_definitions SET definition = '{'`],
  ['definition.readable', `UPDATE workflow_definitions SET hash = 'another'`],
  ['error.state', `UPDATE documents SET content = 'lost'`],
  ['error.state', `UPDATE documents SET namespace = 'theirs'`],
  ['view.readable', `UPDATE documents SET content = '{}'`],
  ['view.readable', `UPDATE documents SET content = '{'`],
  ['workflow.readable', `UPDATE workflows SET triggers = '{'`],
]

/** The statements for an output stream with one row of two chunks. */
function streamOf({ next, chunks }: { next: number; chunks: number }): string {
  return `INSERT INTO streams (run_id, name, first_at, next, chunks, bytes, all_chunks, all_bytes, last_at, open)
      SELECT max(id), 'answer', 1, ${next}, ${chunks}, 2, ${chunks}, 2, 1, '[]' FROM runs;
    INSERT INTO stream_rows (run_id, name, n, messages, step, attempt, at, chunks)
      SELECT max(id), 'answer', 0, 2, 'ask', 1, 1, '1,2' FROM runs`
}

test('every check of rows has a planted violation', () => {
  const checks = [...RUN_CHECKS, ...TURN_CHECKS, ...STREAM_CHECKS, ...DELIVERY_CHECKS, ...PAYLOAD_CHECKS].map(
    ({ name }) => name,
  )
  expect(checks.filter(name => !PLANTED.some(([check]) => check === name))).toEqual([])
})

test.each(PLANTED)('%s is found: %s', async (check, sql) => {
  const copy = tempStoreFile()
  copyFileSync(file, copy)
  const database = await openDatabase(copy)
  database.exec(sql)
  const found = await violations(`sqlite:${copy}`)
  expect(found.map(each => each.check)).toContain(check)
  for (const { message, subject } of found) expect(`${subject} ${message}`).toMatch(/^\S[^\n]*$/)
})

test('rows that retention may have removed are not missed, younger rows are', async () => {
  const copy = tempStoreFile()
  copyFileSync(file, copy)
  const database = await openDatabase(copy)
  // Retention does not remove events from an inbox.
  database.exec('DELETE FROM events WHERE id NOT IN (SELECT event_id FROM delivered_events)')
  database.exec(`INSERT INTO prune_marks (what, up_to) VALUES ('events', ${Date.now() + 1000})`)
  expect(await violations(`sqlite:${copy}`)).toEqual([])
  database.exec(`UPDATE prune_marks SET up_to = 1000`)
  expect((await violations(`sqlite:${copy}`)).map(({ check }) => check)).toContain('run.event')
})

test('the command prints a line for each and ends with 1; without a store it ends with 2', async () => {
  const copy = tempStoreFile()
  copyFileSync(file, copy)
  expect(await perdure(['verify', '--store', `sqlite:${copy}`])).toMatchObject({
    code: 0,
    stdout: 'no violations\n',
    stderr: '',
  })
  const database = await openDatabase(copy)
  database.exec('UPDATE deliveries SET available_at = 1')
  const { code, stdout } = await perdure(['verify', '--store', `sqlite:${copy}`, '--json'])
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toEqual({
    check: 'delivery.status',
    subject: expect.stringMatching(/^dlv_/),
    message: expect.any(String),
  })
  expect(await perdure(['verify', '--store', 'sqlite:/nowhere.db'])).toMatchObject({ code: 2, stdout: '' })
})
