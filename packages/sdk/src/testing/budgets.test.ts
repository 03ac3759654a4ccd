// Budgets in the kit: a tree that is paused beyond a limit, over a crash of the engine.

import { expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { open } from './open.testkit.ts'

const ask = createWorkflow({ name: 'ask' }, async ({ step }) => {
  await step.run('call', ({ spend }) => {
    spend({ usd: 0.1 })
    spend({ usd: 0.2, tokens: 912 })
  })
  return step.run('answer', () => 'yes')
})
const research = createWorkflow({ name: 'research', budget: { usd: 0.5, runs: 9 } }, async ({ step }) => {
  await step.runWorkflow('first', { workflow: ask })
  return step.runWorkflow('second', { workflow: ask })
})

test('the spends of steps count for the runs above, and a raised limit resumes them', async () => {
  const engine = await open([research, ask])
  const run = await engine.start(research)
  await expect.poll(() => engine.runs({ workflow: ask, status: 'paused' })).toHaveLength(1)
  engine.crash()
  await engine.restart()
  const [child] = await engine.runs({ workflow: ask, status: 'paused' })
  const waitingFor = { kind: 'budget', name: 'usd', limit: 0.5, spent: 0.6, runId: run.id }
  expect(await child?.read()).toMatchObject({ waitingFor })
  expect((await run.read()).budget).toMatchObject({ runs: { spent: 3 }, usd: { spent: 0.6 } })
  await run.setBudget({ usd: null })
  expect(await run.result()).toBe('yes')
})
