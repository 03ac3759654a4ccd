// Children, failures, control actions and webhooks, tested with the kit.

import { NonRetriableError } from '@perdure/client'
import { expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { FailureArgs, WorkflowArgs } from '../workflow/workflow.ts'
import { RunFailedError } from './index.ts'
import { open } from './open.testkit.ts'

interface Item {
  n: number
}

const square = createWorkflow({ name: 'square' }, async ({ event, step }: WorkflowArgs<Item>) => {
  if (event.data.n % 10 === 0) await step.sleep('think', '1m')
  return event.data.n ** 2
})

test('children in parallel give their results', async () => {
  const fanOut = createWorkflow({ name: 'fan-out' }, async ({ step }) => {
    const all = Array.from({ length: 20 }, (_, n) => step.runWorkflow(`n${n}`, { workflow: square, data: { n } }))
    return (await Promise.all(all)).reduce((sum, one) => sum + one, 0)
  })
  const engine = await open([fanOut, square])
  const run = await engine.start(fanOut)
  await run.parkedAt('n10')
  const children = await run.children()
  expect(children).toHaveLength(20)
  await children[10]?.parkedAt('think')
  await engine.advance('1m')
  expect(await run.result()).toBe(2_470)
})

test('a failed run has its on-failure handler called', async () => {
  const messages: string[] = []
  const fragile = createWorkflow(
    {
      name: 'fragile',
      onFailure: ({ error, event, step }: FailureArgs<Item>) =>
        step.run('report', () => void messages.push(`${error.message} of ${event.data.n}`)),
    },
    async ({ step }: WorkflowArgs<Item>) => {
      await step.run('break', () => {
        throw new NonRetriableError('broken')
      })
    },
  )
  const engine = await open([fragile])
  const run = await engine.start(fragile, { n: 4 })
  expect(await run.failure()).toMatchObject({ message: 'broken', stepName: 'break' })
  expect(messages).toEqual(['broken of 4'])
  const handler = await run.onFailure()
  expect(handler?.executions('report')).toBe(1)
  expect(await handler?.onFailure()).toBeUndefined()
})

const approval = createWorkflow({ name: 'approval' }, async ({ event, step }: WorkflowArgs<Item>) => {
  const n = await step.run('submit', () => event.data.n)
  await step.waitForEvent('answer', { event: 'answered' })
  return step.run('file', () => n)
})

test('a run is paused, resumed and cancelled', async () => {
  const engine = await open([approval])
  const run = await engine.start(approval, { n: 1 })
  await run.pause()
  await engine.send('answered')
  expect(await run.status()).toBe('paused')
  expect(run.executions('file')).toBe(0)
  await run.resume()
  expect(await run.result()).toBe(1)
  const other = await engine.start(approval, { n: 2 })
  await other.cancel()
  expect(await other.status()).toBe('cancelled')
  expect(await other.why()).toContain('cancelled')
  await expect(other.result()).rejects.toThrow(`Run ${other.id} of "approval" was cancelled`)
  await expect(other.result()).rejects.toThrow(RunFailedError)
})

test('a run is replayed, also with another input, and retried from a step', async () => {
  const engine = await open([approval])
  const run = await engine.start(approval, { n: 1 })
  await engine.send('answered')
  expect(await run.result()).toBe(1)
  const other = await run.replay({ input: { n: 5 } })
  await engine.send('answered')
  expect(await other.result()).toBe(5)
  expect(other.executions('submit')).toBe(1)
  const again = await run.retryFromStep('answer')
  await again.parkedAt('answer')
  await engine.send('answered')
  expect(await again.result()).toBe(1)
  expect(again.executions('submit')).toBe(0)
  expect(await (await run.replay()).status()).toBe('waiting')
})

const sync = createWorkflow({ name: 'sync' }, async ({ event, step, ctx }: WorkflowArgs<{ page: number }>) => {
  const { page } = event.data
  await step.sleep('pause', '1h')
  return page < 3 ? ctx.continueAs({ page: page + 1 }) : page
})

test('a run that continues has the result of the last run, in virtual time', async () => {
  const engine = await open([sync])
  const run = await engine.start(sync, { page: 1 })
  await expect(run.result()).rejects.toThrow('has not ended')
  expect(await run.result({ within: '3h' })).toBe(3)
  const { continuedAs } = await run.read()
  const next = await engine.run(continuedAs as string)
  expect(await next.read()).toMatchObject({ continuedFrom: run.id, input: { page: 2 } })
  expect(await run.why()).toContain(`continued as run ${continuedAs}`)
})

test('a step is settled by hand, with a result or an error', async () => {
  const engine = await open([sync, approval])
  const slept = await engine.start(sync, { page: 3 })
  await slept.settle('pause', { data: null })
  expect(await slept.result()).toBe(3)
  expect(await slept.step('pause')).toMatchObject({ settledBy: { reason: 'settled by the test' } })
  await expect(slept.settle('pause', { data: null })).rejects.toMatchObject({ code: 'conflict' })
  const failed = await engine.start(sync, { page: 3 })
  await failed.settle('pause', { error: { message: 'no night' } })
  expect((await failed.failure()).message).toContain('no night')
})

test("the engine's whole HTTP interface is available", async () => {
  const engine = await open([approval])
  const run = await engine.start(approval, { n: 1 })
  await engine.api.cancelRun({ id: run.id })
  expect(await engine.api.listControlActions()).toMatchObject({ items: [{ action: 'cancel' }] })
  expect(await engine.api.getRunStats()).toMatchObject({ total: 1, active: 0 })
  await expect(engine.api.cancelRun({ id: run.id })).rejects.toMatchObject({
    status: 409,
    code: 'run_terminal',
  })
})

const HOOK = 'https://warehouse.example/hook'
const notify = createWorkflow({ name: 'notify' }, ({ ctx }) =>
  ctx.webhook.send('report', { url: HOOK, data: { ok: 1 } }),
)

test('webhooks are recorded and not sent, and those with a failed answer are retried', async () => {
  const answers = [500, 'timeout', 'connection-error', { status: 429, retryAfterMs: 60_000 }, 204] as const
  const engine = await open({ workflows: [notify], webhooks: { [HOOK]: answers } })
  await (await engine.start(notify)).result()
  await engine.advance('7d')
  const sent = await engine.deliveries()
  expect(sent.map(({ answer }) => answer)).toEqual(answers)
  expect(sent[0]).toMatchObject({ url: HOOK, body: { ok: 1 }, at: new Date('2030-01-01T00:00:00Z') })
  expect(new Set(sent.map(({ deliveryId }) => deliveryId)).size).toBe(1)
  expect(await engine.api.listWebhookDeliveries()).toMatchObject({
    items: [{ status: 'succeeded', attemptCount: 5 }],
  })
  engine.answerWebhooks(HOOK, 410)
  await (await engine.start(notify)).result()
  expect(await engine.api.listWebhookDeliveries()).toMatchObject({ items: [{ status: 'dead' }, {}] })
})

test('endpoints get signed webhooks of the events they subscribe to', async () => {
  const engine = await open([square])
  await engine.api.createWebhookEndpoint({ body: { url: HOOK, eventKinds: ['run.succeeded'] } })
  const run = await engine.start(square, { n: 3 })
  const [sent] = await engine.deliveries()
  expect(sent?.body).toMatchObject({ type: 'run.succeeded', data: { run: { id: run.id, result: 9 } } })
  expect(sent?.headers).toHaveProperty('webhook-signature')
})
