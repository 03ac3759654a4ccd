// Workflows that the ends of runs start, in virtual time, over a crash of the engine (docs/events.md#events-of-the-engine).

import { expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { open } from './open.testkit.ts'

const print = createWorkflow({ name: 'print', retry: { maxAttempts: 3 } }, async ({ step }) => {
  await step.run('page', () => Promise.reject(new Error('no paper')))
})
const alert = createWorkflow({ name: 'alert', triggers: { event: 'perdure/run.failed' } }, async ({ event, step }) => {
  const { workflow, error } = event.data
  await step.sleep('grace', '1h')
  return `${workflow}: ${error?.message}`
})

test('a run that fails starts the workflow that listens, once; a test may start it directly', async () => {
  const engine = await open([print, alert])
  const failed = await engine.start(print)
  await failed.failure({ within: '1h' })
  await engine.settled()
  engine.crash()
  await engine.restart()
  const [alerted, ...others] = await engine.runs({ workflow: alert })
  expect(others).toEqual([])
  expect(await alerted?.result({ within: '1h' })).toBe('print: no paper')
  const events = await engine.events({ name: 'perdure/run.failed' })
  expect(events).toMatchObject([{ source: 'engine', data: { runId: failed.id, status: 'failed' } }])

  const data = { runId: 'run_1', workflow: 'print', app: 'shop', status: 'failed', error: { message: 'no ink' } }
  expect(await (await engine.start(alert, data)).result({ within: '1h' })).toBe('print: no ink')
})
