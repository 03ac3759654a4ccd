// Steps that start and cancel runs, in the test kit: under crashes of the engine, and with virtual time.

import { expect, expectTypeOf, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { StartedRun, WorkflowArgs } from '../workflow/workflow.ts'
import { testEngine } from './index.ts'

const reminder = createWorkflow({ name: 'reminder' }, async ({ event, step }: WorkflowArgs<{ order: number }>) => {
  await step.sleep('wait', '1d')
  return event.data.order
})

const order = createWorkflow({ name: 'order' }, async ({ step }) => {
  await step.run('pack', () => 'packed')
  const options = { workflow: reminder, data: { order: 7 }, delay: '1d', key: 'order-7' } as const
  const started = await step.startRun('remind', options)
  expectTypeOf(started).toEqualTypeOf<StartedRun>()
  // @ts-expect-error the data has a type
  void (() => step.startRun('remind', { workflow: reminder, data: 7 }))
  await step.run('send', () => 'sent')
  if ((await step.waitForEvent('paid', { event: 'paid', timeout: '12h' })) !== null)
    await step.cancelRun('forget', { runId: started.runId })
  return started
})

test.each([true, false])(
  'one run per step, also when the engine dies before and after it; checkpoints: %s',
  async on => {
    await using engine = await testEngine({ workflows: [order, reminder], checkpoints: on })
    for (const name of ['pack', 'send']) {
      engine.mock(name, ({ execution, original }) => {
        const result = original()
        if (execution === 1) engine.crash()
        return result
      })
    }
    const starting = engine.start(order).catch((error: Error) => error)
    await engine.settled()
    await starting
    await engine.restart()
    await engine.settled()
    expect(engine.isUp).toBe(false)
    await engine.restart()
    const [run] = await engine.runs({ workflow: 'order' })
    const started = (await run?.result({ within: '13h' })) as StartedRun
    const reminders = await engine.runs({ workflow: 'reminder' })
    expect(reminders.map(({ id }) => id)).toEqual([started.runId])
    expect([started.existing, run?.executions('send')]).toEqual([false, 2])
    expect(await reminders[0]?.status()).toBe('queued')
    expect(await reminders[0]?.result({ within: '2d' })).toBe(7)
  },
)

test('a run that is not needed any more is cancelled, and its key is free', async () => {
  await using engine = await testEngine({ workflows: [order, reminder] })
  const run = await engine.start(order)
  await run.parkedAt('paid')
  await engine.send('paid')
  const { runId } = (await run.result()) as StartedRun
  const [reminded] = await engine.runs({ workflow: 'reminder' })
  expect(reminded?.id).toBe(runId)
  await engine.settled()
  expect(await reminded?.status()).toBe('cancelled')
  const again = await engine.start(order)
  await again.parkedAt('paid')
  expect((await again.step('remind'))?.data).toMatchObject({ existing: false })
  await engine.stop({ leaveRuns: true })
})
