// Limits that steps share, in the kit: virtual time, the real engine (docs/steps.md#limits-that-steps-share).

import { expect, test } from 'vitest'
import { createWorkflow } from '../../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../../workflow/workflow.ts'
import { testEngine } from '../index.ts'

const LIMITS = { openai: { limit: 2, period: '1m' } } as const

test.each([false, true])('steps of several runs start by the limit, in order (checkpoints: %s)', async checkpoints => {
  const started: string[] = []
  const ask = createWorkflow({ name: 'ask' }, async ({ step, event }: WorkflowArgs<string>) => {
    await step.run('prompt', () => void started.push(event.data), { limit: 'openai' })
  })
  await using engine = await testEngine({ workflows: [ask], limits: LIMITS, checkpoints })
  const begun = engine.now().getTime()
  const runs = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) runs.push(await engine.start(ask, name))
  expect(await runs[4]?.why()).toContain(
    'waits for its turn at the limit "openai" (2 in 1m), 2 steps ahead of it, next turn at ',
  )
  for (const run of runs) await run.result({ within: '1h' })
  expect(engine.now().getTime() - begun).toBe(120_000)
  expect(started).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('items of a map get their turns in few passes, each attempt one of its own', async () => {
  const each = createWorkflow({ name: 'each' }, async ({ step }: WorkflowArgs<null>) =>
    step.map(
      'item',
      [0, 1, 2, 3],
      (n, _, context) => {
        if (n === 0 && context.attempt === 1) throw new Error('busy')
        return [n, context.attempt]
      },
      { limit: 'openai', limitKey: 'eu', retry: { initialMs: 1 } },
    ),
  )
  await using engine = await testEngine({ workflows: [each], limits: LIMITS })
  const begun = engine.now().getTime()
  const run = await engine.start(each, null)
  expect(await run.result({ within: '1h' })).toEqual([
    [0, 2],
    [1, 1],
    [2, 1],
    [3, 1],
  ])
  expect(engine.now().getTime() - begun).toBeGreaterThanOrEqual(120_000)
})

test('a turn that was lost with its pass counts, and the step waits for another one', async () => {
  const once = createWorkflow({ name: 'once' }, async ({ step }: WorkflowArgs<null>) =>
    step.run('prompt', () => 'answer', { limit: 'one' }),
  )
  await using engine = await testEngine({ workflows: [once], limits: { one: { limit: 1, period: '10m' } } })
  const prompt = engine.mock('prompt', ({ execution, original }) => {
    if (execution === 1) engine.crash()
    return original()
  })
  const run = await engine.start(once, null)
  await engine.restart()
  await engine.advance('9m')
  expect(prompt.calls).toHaveLength(1)
  expect(await run.result({ within: '2m' })).toBe('answer')
})
