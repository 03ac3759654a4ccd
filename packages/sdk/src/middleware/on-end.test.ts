// `onEnd` of a middleware: called once per run, by the pass that ends it.

import { NonRetriableError } from '@perdure/client'
import { expect, test } from 'vitest'
import { TestRun, type TestRunOptions } from '../replay/engine.testkit.ts'
import { testEngine } from '../testing/index.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import type { Middleware } from './middleware.ts'

test('onEnd hears of a run once, from the pass that ends it', async () => {
  const heard: string[] = []
  const watching: Middleware = {
    name: 'watching',
    onEnd: ({ ctx, event, end }) =>
      void heard.push([ctx.runId, event.name, end.kind, ...('error' in end ? [`${end.error}`] : [])].join(' ')),
  }
  const drive = async (handler: (args: WorkflowArgs) => unknown, ctx: TestRunOptions['ctx'] = {}) => {
    heard.length = 0
    await new TestRun(createWorkflow({ name: 'w', middleware: [watching] }, handler), { ctx }).drive()
    return heard
  }
  const twoSteps = async ({ step }: WorkflowArgs) => {
    await step.run('a', () => 1)
    await step.run('b', () => 2)
  }
  expect(await drive(twoSteps)).toEqual(['run_1 test succeeded'])
  expect(await drive(({ ctx }) => ctx.continueAs(1), { features: ['continue-as'] })).toEqual(['run_1 test continued'])
  const declined = ({ step }: WorkflowArgs) =>
    step.run('charge', () => {
      throw new NonRetriableError('declined')
    })
  expect(await drive(declined)).toEqual(['run_1 test failed NonRetriableError: declined'])
  const fails = () => {
    throw new Error('no run')
  }
  expect(await drive(fails)).toEqual([])
  expect(await drive(fails, { lastTry: true })).toEqual(['run_1 test failed Error: no run'])
})

test('onEnd hears of an error that the retry policy names, and not of a step whose failure may pause the run', async () => {
  const heard: unknown[] = []
  const middleware: Middleware[] = [{ name: 'watching', onEnd: ({ end }) => void heard.push(end.kind) }]
  const named = createWorkflow({ name: 'w', middleware, retry: { nonRetriable: ['TypeError'] } }, () => {
    throw new TypeError('never')
  })
  await new TestRun(named).drive()
  expect(heard).toEqual(['failed'])
  const pausing = createWorkflow({ name: 'w', middleware, whenExhausted: 'pause' }, ({ step }) =>
    step.run('charge', () => {
      throw new NonRetriableError('declined')
    }),
  )
  await new TestRun(pausing).drive()
  expect(heard).toEqual(['failed'])
})

test('an onEnd that throws changes nothing', async () => {
  const broken: Middleware = {
    name: 'broken',
    onEnd: () => {
      throw new Error('no metrics')
    },
  }
  expect(await new TestRun(createWorkflow({ name: 'w', middleware: [broken] }, () => 1)).drive()).toMatchObject({
    status: 200,
    data: 1,
  })
})

test('onEnd hears once of a handler that throws until its tries are spent', async () => {
  const heard: string[] = []
  const middleware: Middleware[] = [{ name: 'watching', onEnd: ({ end }) => void heard.push(end.kind) }]
  const broken = createWorkflow({ name: 'broken', middleware, handlerRetries: 3 }, async ({ step }) => {
    await step.run('a', () => 1)
    throw new Error('no run')
  })
  await using engine = await testEngine([broken])
  const run = await engine.start(broken)
  await engine.advance('1h')
  expect(await run.status()).toBe('failed')
  expect(heard).toEqual(['failed'])
})
