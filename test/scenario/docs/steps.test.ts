// Runs the code blocks of docs/steps.md on a real engine: each block is in `steps.workflows.ts`
// (`snippets.test.ts` checks that), and does what the page says.

import { serve } from '@perdure/sdk/node'
import { expect, test } from 'vitest'
import { onCleanup, openDestination, scenario, skipWait, until, waitsFor } from '../../kit/index.ts'
import { all, calls, letChargesFail, options } from './steps.workflows.ts'

const { api, clock, url } = await scenario({ env: { ENGINE_WEBHOOK_ALLOW: '127.0.0.1' } })
const runner = await serve({ app: 'docs', workflows: all, ...options, port: 0, engineUrl: url, log: () => {} })
onCleanup(() => runner.close())
await runner.ready
const order = { orderId: 'A-1', amount: 10, email: 'ada', hookUrl: 'http://127.0.0.1:1' }

/** Starts the workflow of that name with this order; returns the run's id. */
async function start(name: string, data: object = {}): Promise<string> {
  calls.length = 0
  // A wait also takes events from its run's own millisecond, so this run gets a millisecond without events of other tests.
  clock.jump(1)
  letChargesFail(0)
  return (await api.send({ name, data: { ...order, ...data } })).runId as string
}

const resultOf = async (runId: string) => (await api.succeeded(runId)).result

test('run: the result is what its JSON parses to', async () => {
  const runId = await start('docs-run')
  expect(await resultOf(runId)).toEqual({ chargeId: 'ch_10', at: '1970-01-01T00:00:00.000Z' })
})

test('sleep: three days; a Monday that has passed needs no wait', async () => {
  // Only the engine's clock is in the future, where the Monday that the runner chooses is long past.
  const runId = await start('docs-sleep')
  expect(await skipWait(api, clock, runId, 'sleep')).toBe(3 * 86_400_000)
  await api.succeeded(runId)
  expect(calls).toEqual(['mail ada: it is Monday'])
})

test('waitForEvent: the event that meets its condition', async () => {
  const runId = await start('docs-wait')
  await waitsFor(api, runId, 'event')
  expect(await api.send({ name: 'order/paid', data: { orderId: 'B-2' } })).toMatchObject({ woke: 0 })
  await api.send({ name: 'order/paid', data: { orderId: 'A-1', by: 'card' } })
  expect(await resultOf(runId)).toEqual({ status: 'paid', by: 'card' })
})

test('continueAs: the next run has the data, and the result is that of the last', async () => {
  let runId: string | undefined = await start('docs-continue', { page: 1 })
  const first = runId
  for (; runId !== undefined; runId = (await api.succeeded(runId)).continuedAs)
    expect(await skipWait(api, clock, runId, 'sleep')).toBe(3_600_000)
  expect(calls).toEqual(['sync 1', 'sync 2', 'sync 3'])
  expect((await api.get(`/runs/${first}/result`)).json).toMatchObject({ status: 'succeeded', result: 3 })
})

test('callback: the posted JSON, once', async () => {
  const runId = await start('docs-callback')
  await waitsFor(api, runId, 'callback')
  const [link = ''] = /http\S+/.exec(calls.join()) ?? []
  const { pathname } = new URL(link)
  expect((await api.post(pathname, { approved: true })).status).toBe(202)
  expect(await resultOf(runId)).toBe(true)
  expect((await api.post(pathname, { approved: false })).code).toBe('callback_used')
})

test('waitForEvent and emit with a typed event', async () => {
  const runId = await start('docs-typed')
  await waitsFor(api, runId, 'event')
  await api.send({ name: 'order/settled', data: { orderId: 'A-1', cents: 900 } })
  expect(await resultOf(runId)).toBe(900)

  const refused = await start('docs-typed', { orderId: 'A-3' })
  await api.send({ name: 'order/settled', data: { orderId: 'A-3', cents: 'nine' } })
  expect((await api.failed(refused)).error?.message).toContain('data.cents')
})

test('now, random and uuid: the same on every pass', async () => {
  const runId = await start('docs-own')
  await waitsFor(api, runId, 'sleep')
  const stored = (await api.steps(runId)).map(({ name, data }) => [name, data])
  await skipWait(api, clock, runId, 'sleep')
  const result = (await resultOf(runId)) as { startedMs: number; reference: string }
  expect(stored.slice(0, 2)).toEqual([
    ['ctx.now', result.startedMs],
    ['ctx.uuid', result.reference],
  ])
})

test('currentRun, log: a helper finds its run', async () => {
  const runId = await start('docs-ambient')
  await api.succeeded(runId)
  expect(calls).toEqual([`mail sales: A-1 of run ${runId}`])
  const [line] = await api.logs(runId)
  expect(line).toMatchObject({ scope: 'tell', message: 'telling sales', fields: { orderId: 'A-1' } })
})

test('budgets: what an attempt spent is on the run', async () => {
  const runId = await start('docs-research', { question: 'tea' })
  expect(await resultOf(runId)).toBe('About tea')
  const { budget } = await api.run(runId)
  expect(budget).toMatchObject({ usd: { limit: 5, spent: 0.01824 }, tokens: { spent: 912 }, steps: { spent: 1 } })
})

test('signals: a basket answers updates, and takes a signal', async () => {
  const runId = await start('docs-basket')
  const update = (sku: string) => api.post(`/runs/${runId}/updates/add-item?wait=20s`, { data: { sku } })
  expect(await update('tea')).toMatchObject({ status: 200, json: { reply: { count: 1 } } })
  await api.post(`/runs/${runId}/signals/add-item`, { data: { sku: 'milk' } })
  expect(await update('jam')).toMatchObject({ json: { error: { code: 'rejected', message: 'the basket is full' } } })
  await skipWait(api, clock, runId, 'signal')
  expect(await resultOf(runId)).toEqual(['tea', 'milk'])
})

test('waitForRun: the result of another run, or how it ended else', async () => {
  const target = await start('docs-sleep')
  const lucky = await start('docs-wait-for-run', { runId: target })
  for (const id of [target, lucky]) await api.reaches(id, 'waiting')
  await api.post(`/runs/${lucky}/steps/label/settle`, {
    data: { runId: target, status: 'succeeded', result: { label: 'L-1' } },
    reason: 'test',
  })
  expect(await resultOf(lucky)).toBe('L-1')
  const other = await start('docs-wait-for-run', { runId: target })
  await api.reaches(other, 'waiting')
  await api.post(`/runs/${target}/cancel`)
  expect(await resultOf(other)).toBe(`${target}: cancelled`)
})

test('runWorkflow: the result of the child', async () => {
  expect(await resultOf(await start('docs-child'))).toBe('LABEL-A-1')
})

test('emit and webhook.send: each once', async () => {
  const destination = await openDestination()
  await resultOf(await start('docs-tell', { hookUrl: destination.url }))
  await until(() => destination.requests.length > 0, { what: 'the webhook' })
  expect(destination.requests.map(({ body }) => body)).toEqual(['{"orderId":"A-1"}'])
  const emitted = (await api.get('/events?name=order/shipped')).json as { source: string }[]
  expect(emitted.map(({ source }) => source)).toEqual(['emit'])
})

test('a name that is used again is another step', async () => {
  const runId = await start('docs-repeats')
  expect(await resultOf(runId)).toEqual([3, 3, 4])
  const steps = await api.steps(runId)
  expect(steps.map(({ name, data }) => [name, data])).toEqual([
    ['quote', 3],
    ['quote', 3],
    ['quote', 4],
  ])
  expect(new Set(steps.map(({ id }) => id)).size).toBe(3)
})

test('a handler that differs between passes is reported in the log', async () => {
  const runId = await start('docs-drift')
  await api.succeeded(runId)
  const warnings = (await api.logs(runId)).filter(({ scope }) => scope === '@replay')
  expect(warnings.map(({ level, message }) => [level, message])).toEqual([
    ['warn', expect.stringContaining('saw the new step "second"')],
  ])
})

test('race: the first one wins', async () => {
  const runId = await start('docs-together')
  await api.reaches(runId, 'waiting')
  await api.send({ name: 'quote/declined' })
  expect(await resultOf(runId)).toEqual({ quotes: 3, answer: 'declined' })
})

test('race: a child has a time limit beside it, a step.run has not', async () => {
  const late = await start('docs-limits')
  expect(await skipWait(api, clock, late, 'sleep')).toBe(600_000)
  expect(await resultOf(late)).toEqual({ rate: 2, parcel: 'late' })
  expect(await resultOf(await start('docs-beside'))).toBe('the step')
})

test('I/O between steps: the run goes on without its open step', async () => {
  const runId = await start('docs-between', { item: 'hats' })
  await waitsFor(api, runId, 'sleep')
  await api.send({ name: 'order/paid' })
  await api.succeeded(runId)
  expect(calls).toEqual(['ship from the stock of hats'])
})

test('failures: a step that is caught, and a run that is followed by onFailure', async () => {
  const runId = await start('docs-failures', { amount: -1 })
  letChargesFail(3)
  await skipWait(api, clock, runId, 'retry')
  await skipWait(api, clock, runId, 'retry')
  await api.failed(runId)
  await until(() => calls.length === 5, { what: 'the on-failure run' })
  expect(calls.slice(3)).toEqual([
    'mail ada: charge: The provider timed out',
    'mail support: A-1: There is nothing to ship',
  ])

  const closed = await start('docs-failures', { amount: 9001 })
  expect(await skipWait(api, clock, closed, 'retry')).toBe(8 * 3_600_000)
})

test('limits that steps share: a step starts with its turn, and the limit is listed', async () => {
  expect(await resultOf(await start('docs-quotes'))).toBe(20)
  expect((await api.get('/limits?kind=step&app=docs')).json).toMatchObject([
    { name: 'vendor', key: 'eu', limit: 50, taken: 1 },
  ])
})

test('rollbacks: a failed run is undone, and a cancelled one after its onCancel', async () => {
  const cleanedUp = async (runId: string) => {
    const runs = async () => api.runs(`?parentRunId=${runId}`)
    await until(async () => (await runs())[0]?.status === 'succeeded', { what: 'the cleanup run' })
  }
  const failed = await start('docs-rollbacks', { amount: -1 })
  await api.failed(failed)
  await cleanedUp(failed)
  expect(calls).toEqual(['refund ch_-1', 'release shelf of A-1'])

  const cancelled = await start('docs-rollbacks')
  await waitsFor(api, cancelled, 'event')
  await api.post(`/runs/${cancelled}/cancel`)
  await cleanedUp(cancelled)
  expect(calls).toEqual(['mail ada: Cancelled after reserve, pay', 'refund ch_10', 'release shelf of A-1'])
})
