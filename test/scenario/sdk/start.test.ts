// `client.start()` of the SDK against the real engine (docs/concepts.md#start-a-workflow-directly).

import { ApiError, createClient, createWorkflow, RunEndedError, type WorkflowArgs } from '@perdure/sdk'
import { serve } from '@perdure/sdk/node'
import { expect, test } from 'vitest'
import { onCleanup, scenario, unique, until } from '../../kit/index.ts'

const { url } = await scenario({ realTime: true })

test('starts a workflow that only a schedule starts, once for each id, and gets its result', async () => {
  const app = unique('started')
  const report = createWorkflow(
    { name: 'report', triggers: { cron: '0 0 1 1 *' } },
    async ({ event, step }: WorkflowArgs<{ day: string }>) => {
      if (event.data.day === '') throw new Error('no day')
      return { day: await step.run('day', () => event.data.day), name: event.name }
    },
  )
  const runner = await serve({ app, workflows: [report], port: 0, engineUrl: url, log: () => undefined })
  onCleanup(() => runner.close())
  await runner.ready
  const client = createClient({ url, app })
  const runId = `run_report-${unique('x')}`
  const handle = await client.start(report, { day: 'monday' }, { runId })
  expect(handle.runId).toBe(runId)
  expect(await handle.result({ timeoutMs: 20_000 })).toEqual({ day: 'monday', name: 'report' })
  const again = await client.start(report, { day: 'tuesday' }, { runId })
  expect(await again.result()).toEqual({ day: 'monday', name: 'report' })
  await expect(client.start('nobody')).rejects.toMatchObject({ status: 404 })
})

test('the result of a run that fails is its error', async () => {
  const app = unique('failing')
  const failing = createWorkflow({ name: 'failing', handlerRetries: 1 }, () => {
    throw new TypeError('nothing to do')
  })
  const runner = await serve({ app, workflows: [failing], port: 0, engineUrl: url, log: () => undefined })
  onCleanup(() => runner.close())
  await runner.ready
  const handle = await createClient({ url }).start(failing, undefined, { app })
  const thrown = await handle.result().catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(RunEndedError)
  expect(thrown).toMatchObject({ message: 'nothing to do', code: 'handler_failed', runId: handle.runId })
})

test('a handle says what the run does, and cancels it', async () => {
  const app = unique('waiting')
  const waiting = createWorkflow({ name: 'waiting' }, async ({ step }) => {
    await step.waitForEvent('paid', { event: unique('paid') })
  })
  const runner = await serve({ app, workflows: [waiting], port: 0, engineUrl: url, log: () => undefined })
  onCleanup(() => runner.close())
  await runner.ready
  const client = createClient({ url, app })
  const handle = await client.start(waiting)
  await until(async () => (await handle.status()) === 'waiting', { what: 'the wait' })
  // The same client has the operations of the HTTP interface.
  expect(await client.getRun({ id: handle.runId })).toMatchObject({ status: 'waiting', workflow: 'waiting' })
  await handle.cancel()
  expect(await handle.status()).toBe('cancelled')
  await expect(handle.result()).rejects.toMatchObject({ name: 'RunEndedError', status: 'cancelled' })
  const refused = await handle.cancel().catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ApiError)
  expect(refused).toMatchObject({ status: 409, code: 'run_terminal' })
})
