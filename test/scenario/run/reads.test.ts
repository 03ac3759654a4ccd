// Reading runs and their steps (§2.1, §4.1; decisions "Run", "Step record").

import type { RunSummary, StepRecord } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import {
  flow,
  type Handler,
  returned,
  run,
  scenario,
  sleep,
  step,
  stepId,
  unique,
  wait,
} from '../../kit/index.ts'

const { engine } = await scenario({
  realTime: true,
  env: { ENGINE_WEBHOOK_ALLOW_PRIVATE: '1', ENGINE_WEBHOOK_SCHEDULE: '1ms' },
})
const { api } = engine
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

async function workflow(handler: Handler) {
  const name = unique('workflow')
  const runner = await engine.runner({ workflows: { [name]: handler } })
  return { name, app: runner.app, send: (data?: unknown) => api.send({ name, app: runner.app, data }) }
}

describe('GET /runs/{id}', () => {
  test('a run that succeeded, field by field', async () => {
    const { send, name, app } = await workflow(flow([run('a')], () => ({ done: true })))
    const { runId, eventId } = await send({ n: 1 })
    await api.succeeded(runId)
    const found = await api.run(runId)
    expect(found).toEqual({
      id: runId,
      workflow: name,
      app,
      status: 'succeeded',
      triggerKind: 'event',
      eventName: name,
      eventId,
      attempt: 1,
      createdAt: TIME,
      startedAt: TIME,
      finishedAt: TIME,
      durationMs: expect.any(Number),
      input: { n: 1 },
      result: { done: true },
    })
    const ms = (time?: string) => Date.parse(time as string)
    expect(found.durationMs).toBe(ms(found.finishedAt) - ms(found.startedAt))
    expect(ms(found.startedAt)).toBeGreaterThanOrEqual(ms(found.createdAt))
  })

  test('a run that waits says for what; nothing that does not apply is there', async () => {
    const event = unique('never')
    const { send } = await workflow(flow([wait('w', event, 60_000)]))
    const { runId } = await send()
    const found = await api.reaches(runId, 'waiting')
    expect(found).toMatchObject({
      currentStepName: 'w',
      waitingFor: { kind: 'event', stepName: 'w', eventName: event, until: TIME },
    })
    for (const absent of [
      'finishedAt',
      'durationMs',
      'error',
      'result',
      'input',
      'runner',
      'replayOf',
      'cron',
    ]) {
      expect(found).not.toHaveProperty(absent)
    }
  })

  test.each(['run_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'evt_x', 'x'.repeat(200)])(
    '%s does not exist: 404',
    async id => {
      for (const path of [`/runs/${id}`, `/runs/${id}/steps`, `/runs/${id}/stream`]) {
        expect(await api.get(path)).toMatchObject({ status: 404, code: 'not_found' })
      }
    },
  )
})

describe('GET /runs/{id}/steps (decisions "Step record")', () => {
  test("every opcode's record, in execution order", async () => {
    const [event, kid] = [unique('event'), unique('kid')]
    await engine.runner({ workflows: { [kid]: () => returned('grown') } })
    const { send } = await workflow(
      flow([
        run('a', () => 1),
        sleep('b', 5),
        step('SleepUntil', 'c', { sleepUntilMs: 1000 }),
        step('Emit', 'd', { eventName: event }),
        wait('e', event),
        step('RunWorkflow', 'f', { childName: kid }),
        step('Webhook', 'g', { webhookUrl: 'http://127.0.0.1:9/' }),
      ]),
    )
    const { runId } = await send()
    await api.succeeded(runId)
    const steps = await api.steps(runId)
    const common = (name: string, op: StepRecord['op'], index: number) => ({
      id: stepId(name),
      name,
      op,
      index,
      status: 'succeeded',
      attempt: 1,
      startedAt: TIME,
      finishedAt: TIME,
      durationMs: expect.any(Number),
    })
    const [emittedEventId, childRunId, deliveryId] = [
      steps[3]?.emittedEventId,
      steps[5]?.childRunId,
      steps[6]?.deliveryId,
    ]
    expect(steps).toEqual([
      { ...common('a', 'StepRun', 0), data: 1 },
      { ...common('b', 'Sleep', 1), wakeAt: TIME, data: null },
      { ...common('c', 'SleepUntil', 2), wakeAt: '1970-01-01T00:00:01.000Z', data: null },
      { ...common('d', 'Emit', 3), eventName: event, emittedEventId, data: expect.anything() },
      {
        ...common('e', 'WaitForEvent', 4),
        eventName: event,
        data: { id: emittedEventId, name: event, receivedAt: TIME },
      },
      { ...common('f', 'RunWorkflow', 5), childRunId, data: 'grown' },
      { ...common('g', 'Webhook', 6), deliveryId, data: expect.anything() },
    ])
    expect(emittedEventId).toMatch(/^evt_/)
    expect(childRunId).toMatch(/^run_/)
    expect(deliveryId).toMatch(/^dlv_/)
  })

  test('a run without steps has an empty list', async () => {
    const { send } = await workflow(() => returned())
    const { runId } = await send()
    await api.succeeded(runId)
    expect(await api.steps(runId)).toEqual([])
  })
})

describe('GET /runs (§4.1, §8)', () => {
  const page = async (query: string) => {
    const answer = await api.get(`/runs?${query}`)
    expect(answer.status).toBe(200)
    return { runs: answer.json as RunSummary[], next: answer.headers.get('x-next-cursor') }
  }
  const ids = (runs: RunSummary[]) => runs.map(({ id }) => id)

  /** An app with `count` finished runs; their ids, newest first. */
  async function history(count: number) {
    const { send, app, name } = await workflow(() => returned('a result'))
    const all: string[] = []
    for (let i = 0; i < count; i++) all.unshift((await send(i)).runId)
    for (const runId of all) await api.succeeded(runId)
    return { app, name, send, all }
  }

  test('is newest first and without input and result', async () => {
    const { app, all } = await history(3)
    const { runs, next } = await page(`app=${app}`)
    expect(ids(runs)).toEqual(all)
    expect(next).toBeNull()
    for (const summary of runs) {
      const { input, result, ...full } = await api.run(summary.id)
      expect(summary).toEqual(full)
    }
  })

  test('has 30 runs by default; limit is clamped to 1-200 (decisions)', async () => {
    const { app } = await history(31)
    expect((await page(`app=${app}`)).runs).toHaveLength(30)
    expect((await page(`app=${app}&limit=0`)).runs).toHaveLength(1)
    expect((await page(`app=${app}&limit=1000`)).runs).toHaveLength(31)
    expect(await api.get('/runs?limit=many')).toMatchObject({ status: 400, code: 'invalid_request' })
  })

  test('paging neither skips nor repeats rows when new runs arrive (P1)', async () => {
    const { app, all, send } = await history(7)
    const met: string[] = []
    let query = `app=${app}&limit=2`
    for (;;) {
      const { runs, next } = await page(query)
      met.push(...ids(runs))
      if (next === null) break
      await api.succeeded((await send()).runId)
      query = `app=${app}&limit=2&cursor=${encodeURIComponent(next)}`
    }
    expect(met).toEqual(all)
  })

  test('the last page has no X-Next-Cursor, even when it is full', async () => {
    const { app } = await history(2)
    expect((await page(`app=${app}&limit=2`)).next).toBeNull()
    expect((await page(`app=${app}&limit=1`)).next).not.toBeNull()
  })

  test('a malformed cursor, or one of another filter, is 400 invalid_cursor (P2)', async () => {
    const { app } = await history(2)
    const cursor = encodeURIComponent((await page(`app=${app}&limit=1`)).next as string)
    for (const query of ['cursor=abc', `cursor=${cursor}`, `app=${app}&status=failed&cursor=${cursor}`]) {
      expect(await api.get(`/runs?${query}`), query).toMatchObject({ status: 400, code: 'invalid_cursor' })
    }
  })

  test('status filters, and running also matches waiting (§3)', async () => {
    const waits = flow([wait('w', unique('never'))])
    const { send, app } = await workflow((invoke, record) =>
      invoke.event.data === 'fail' ? { status: 400, body: { logs: [] } } : waits(invoke, record),
    )
    const failed = (await send('fail')).runId
    const waiting = (await send('wait')).runId
    const paused = (await send('wait')).runId
    const cancelled = (await send('wait')).runId
    await api.failed(failed)
    for (const runId of [waiting, paused, cancelled]) await api.reaches(runId, 'waiting')
    await api.post(`/runs/${paused}/pause`)
    await api.post(`/runs/${cancelled}/cancel`)
    const of = async (status: string) => ids((await page(`app=${app}&status=${status}`)).runs)
    expect(await of('failed')).toEqual([failed])
    expect(await of('waiting')).toEqual([waiting])
    expect(await of('running')).toEqual([waiting])
    expect(await of('paused')).toEqual([paused])
    expect(await of('cancelled')).toEqual([cancelled])
    expect(await of('succeeded')).toEqual([])
    expect(await api.get('/runs?status=sleeping')).toMatchObject({ status: 400, code: 'invalid_request' })
  })
})
