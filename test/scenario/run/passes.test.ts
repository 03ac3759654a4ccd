// The passes of a run and the times of its steps (docs/http-api/runs.md#get-runsidpasses, docs/wire-protocol.md#times-of-steps).

import type { PassRecord, StepDetail } from '@perdure/protocol'
import { expect, test } from 'vitest'
import {
  flow,
  type Handler,
  returned,
  run,
  scenario,
  skipWait,
  sleep,
  step,
  stepId,
  unique,
  waitsFor,
} from '../../kit/index.ts'

const { api, clock, start } = await scenario()

async function page(runId: string, query = '') {
  const { status, json, headers } = await api.get(`/runs/${runId}/passes${query}`)
  expect(status).toBe(200)
  return { passes: json as PassRecord[], next: headers.get('x-next-cursor') }
}

/** A step whose pass takes 500 ms, with the runner's measurements. */
const taking = (name: string, fields: Record<string, unknown>) =>
  step('StepRun', name, () => {
    clock.jump(500)
    return fields
  })

const at = (ms: number) => new Date(ms).toISOString()

test('a step has the times that its runner measured, within its pass; what is no time is ignored', async () => {
  const begin = clock.now()
  const runner = unique('runner')
  const { runId } = await start(
    flow([
      taking('inside', { data: 1, offsetMs: 100.4, durationMs: 200 }),
      taking('beyond', { data: 2, offsetMs: 400, durationMs: 900 }),
      taking('later', { data: 3, offsetMs: 9000, durationMs: 1 }),
      taking('odd', { data: 4, offsetMs: -1, durationMs: 'long' }),
      taking('silent', { data: 5 }),
    ]),
    { runner },
  )
  await api.succeeded(runId)
  const steps = await api.steps(runId)
  expect(steps.map(({ pass, runner, ranAt, ranMs }) => ({ pass, runner, ranAt, ranMs }))).toEqual(
    [
      [100, 200],
      [900, 100],
      [1500, 0],
      [undefined, undefined],
      [undefined, undefined],
    ].map(([ranAt, ranMs], i) => ({
      pass: i + 1,
      runner,
      ranAt: ranAt === undefined ? undefined : at(begin + ranAt),
      ranMs,
    })),
  )
})

test('every attempt has its own times and its own pass', async () => {
  const fails = { error: { message: 'no' }, offsetMs: 100, durationMs: 50 }
  let tries = 0
  const { runId } = await start(
    flow([
      step('StepRun', 'flaky', () => {
        clock.jump(500)
        return ++tries < 3 ? fails : { data: 1, offsetMs: 10, durationMs: 20 }
      }),
    ]),
    { registration: { retry: { maxAttempts: 4, initialMs: 5000 } } },
  )
  for (let i = 0; i < 2; i++) await skipWait(api, clock, runId, 'retry')
  await api.succeeded(runId)
  const { attempts } = (await api.get(`/runs/${runId}/steps/${stepId('flaky')}`)).json as StepDetail
  expect(attempts.map(({ attempt, pass, ranMs }) => [attempt, pass, ranMs])).toEqual([
    [1, 1, 50],
    [2, 2, 50],
    [3, 3, 20],
  ])
  for (const { ranAt, endedAt } of attempts.slice(0, 2)) {
    expect(Date.parse(endedAt) - Date.parse(ranAt as string)).toBe(400)
  }
})

test('passes: those that reported steps, those that failed with the reason, and the last', async () => {
  const begin = clock.now()
  let invokes = 0
  const steps = flow([[run('a'), run('b', () => 'b')], sleep('nap', 1000)])
  const runner = unique('runner')
  const handler: Handler = (invoke, record) => {
    if (++invokes === 2) return { status: 503, body: { error: { message: 'z'.repeat(300), stack: 'at x' } } }
    return steps(invoke, record)
  }
  const { runId } = await start(handler, { runner })
  await skipWait(api, clock, runId, 'retry')
  await waitsFor(api, runId, 'sleep')
  await skipWait(api, clock, runId, 'sleep')
  await api.succeeded(runId)
  const { passes } = await page(runId)
  const one = { runner, sentAt: expect.any(String), answeredAt: expect.any(String) }
  const did = (name: string, index: number) => ({ index, id: stepId(name), name, attempt: 1, status: 'succeeded' })
  expect(passes).toEqual([
    {
      ...one,
      pass: 1,
      sentAt: at(begin),
      answeredAt: at(begin),
      outcome: 'steps',
      attempt: 1,
      steps: [did('a', 0), did('b', 1)],
    },
    {
      ...one,
      pass: 2,
      outcome: 'failed',
      attempt: 1,
      steps: [],
      error: { message: 'z'.repeat(200), code: 'handler_failed' },
    },
    { ...one, pass: 3, outcome: 'steps', attempt: 2, steps: [did('nap', 2)] },
    { ...one, pass: 4, outcome: 'returned', attempt: 2, steps: [] },
  ])
  expect((await api.run(runId)).attempt).toBe(2)
  // The pages show the same.
  const paged: PassRecord[] = []
  for (let cursor = ''; ; ) {
    const { passes, next } = await page(runId, `?limit=1${cursor && `&cursor=${cursor}`}`)
    paged.push(...passes)
    if (next === null) break
    cursor = next
  }
  expect(paged).toEqual(passes)
})

test('a run that failed in its passes shows each, and a pass under way is running', async () => {
  const { runId } = await start(() => ({ status: 500, body: {} }), { registration: { handlerRetries: 2 } })
  await skipWait(api, clock, runId, 'retry')
  await api.failed(runId)
  const { passes } = await page(runId)
  expect(passes.map(({ pass, outcome, attempt, error }) => [pass, outcome, attempt, error?.code])).toEqual([
    [1, 'failed', 1, 'runner_unreachable'],
    [2, 'failed', 2, 'runner_unreachable'],
  ])
  let seen: PassRecord[] = []
  const { runId: other } = await start(async ({ ctx }) => {
    seen = (await page(ctx.runId)).passes
    return returned()
  })
  await api.succeeded(other)
  expect(seen).toMatchObject([{ pass: 1, outcome: 'running', steps: [] }])
  expect(seen[0]).not.toHaveProperty('answeredAt')
})

test('a fork keeps results, not passes', async () => {
  const { runId } = await start(flow([run('a'), run('b')]))
  await api.succeeded(runId)
  const { json } = await api.post(`/runs/${runId}/retry-from-step`, { step: 'b' })
  const fork = (json as { id: string }).id
  await api.succeeded(fork)
  const [carried, again] = await api.steps(fork)
  expect([carried?.pass, again?.pass]).toEqual([undefined, 1])
  expect((await page(fork)).passes.map(({ steps }) => steps.map(({ name }) => name))).toEqual([['b'], []])
})

test('a run that is not there is 404, and a cursor belongs to one run', async () => {
  expect(await api.get('/runs/run_none/passes')).toMatchObject({ status: 404 })
  const { runId } = await start(flow([run('a')]))
  await api.succeeded(runId)
  const { next } = await page(runId, '?limit=1')
  const { runId: other } = await start(flow([run('a')]))
  expect(await api.get(`/runs/${other}/passes?cursor=${next}`)).toMatchObject({ status: 400, code: 'invalid_cursor' })
})
