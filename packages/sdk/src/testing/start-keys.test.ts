// Starts with a key in the test kit, as those of a client.

import { expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import { testEngine } from './index.ts'

const sync = createWorkflow({ name: 'sync' }, async ({ event, step }: WorkflowArgs<number>) => {
  await step.sleep('night', '1d')
  return event.data
})

test('a start with a key gives the live run, over a crash of the engine, and a new one after its end', async () => {
  await using engine = await testEngine({ workflows: [sync] })
  const first = await engine.start(sync, 1, { key: 'a' })
  engine.crash()
  await engine.restart()
  expect((await engine.start(sync, 2, { key: 'a' })).id).toBe(first.id)
  await expect(engine.start(sync, 2, { key: 'a', ifRunning: 'refuse' })).rejects.toMatchObject({
    code: 'already_running',
    details: { runId: first.id },
  })
  const next = await engine.start(sync, 3, { key: 'a', ifRunning: 'cancel' })
  expect(await first.status()).toBe('cancelled')
  expect(await next.result({ within: '1d' })).toBe(3)
  expect(await (await engine.start(sync, 4, { key: 'a' })).result({ within: '1d' })).toBe(4)
  await expect(engine.start(sync, 5, { key: 'a', event: 'sync' })).rejects.toThrow('give no event')
})
