// `client.start()` of the SDK against the real engine (docs/concepts.md#start-a-workflow-directly).

import { createClient, createWorkflow, RunEndedError, type WorkflowArgs } from '@perdure/sdk'
import { serve } from '@perdure/sdk/node'
import { expect, test } from 'vitest'
import { onCleanup, scenario, unique } from '../../kit/index.ts'

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
