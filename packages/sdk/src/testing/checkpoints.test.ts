// Passes that end at each step and passes with checkpoints must give the same runs.

import { NonRetriableError } from '@perdure/client'
import { expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import { testEngine } from './index.ts'

const child = createWorkflow({ name: 'child' }, async ({ event, step }: WorkflowArgs<number>) =>
  step.run('halve', () => {
    if (event.data % 2 === 1) throw new NonRetriableError('odd')
    return event.data / 2
  }),
)

let passes = 0
const everything = createWorkflow({ name: 'everything' }, async ({ step, ctx }) => {
  passes++
  const seen: unknown[] = []
  for (let i = 0; i < 3; i++) seen.push(await step.run('turn', () => ({ i, at: new Date(i) })))
  seen.push(
    ...(await Promise.all([
      step.run('left', () => 'left'),
      step.sleep('nap', '1h'),
      step.waitForEvent<number>('word', { event: 'word', timeout: '1d' }).then(event => event?.data),
    ])),
  )
  seen.push(await step.run('flaky', () => (ctx.attempt < 3 ? Promise.reject(new Error('again')) : 'steady')))
  seen.push(await step.runWorkflow('even', { workflow: child, data: 8 }))
  seen.push(await step.runWorkflow('odd', { workflow: child, data: 7 }).catch((error: Error) => error.message))
  await step.emit('announce', { event: 'announced', data: seen.length })
  seen.push(await Promise.race([step.sleep('late', '2d'), step.run('early', () => 'early')]))
  ctx.logger.info('done', { steps: seen.length })
  return seen
})

async function history(checkpoints: boolean) {
  passes = 0
  const engine = await testEngine({ workflows: [everything, child], checkpoints })
  const run = await engine.start(everything)
  await engine.advance('30m')
  await engine.send('word', 5)
  const result = await run.result({ within: '10d' })
  const steps = (await run.steps()).map(({ name, op, status, data, attempt }) => ({
    name,
    op,
    status,
    data,
    attempt,
  }))
  const logs = (await run.logs()).map(({ scope, message, fields }) => ({ scope, message, fields }))
  const events = (await engine.events()).map(({ name, data }) => ({ name, data }))
  const executions = ['turn', 'left', 'flaky', 'early'].map(name => run.executions(name))
  await engine.stop()
  return { passes, observed: { result, steps, logs, events, executions } }
}

test('a workflow of every kind of step does the same with checkpoints and without', async () => {
  const [plain, checkpointed] = [await history(false), await history(true)]
  expect(plain.observed.executions).toEqual([3, 1, 3, 1])
  expect(stripIds(checkpointed.observed)).toEqual(stripIds(plain.observed))
  expect(checkpointed.passes).toBeLessThan(plain.passes)
})

/** Removes random ids: those of children and events differ between the two. */
function stripIds(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll(/(run|evt)_[0-9A-Z]{26}/g, '$1'))
}

test('the kit shows the newest progress of a run', async () => {
  const reporting = createWorkflow({ name: 'reporting' }, async ({ step, ctx }) => {
    await step.run('one', () => ctx.progress({ at: 'one' }))
    await step.sleep('nap', '1h')
    ctx.progress({ at: 'the end' })
  })
  await using engine = await testEngine([reporting])
  const run = await engine.start(reporting)
  expect(await run.progress()).toEqual({ at: 'one' })
  await run.result({ within: '2h' })
  expect(await run.progress()).toEqual({ at: 'the end' })
})
