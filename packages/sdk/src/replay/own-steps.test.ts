// Time and randomness as steps: `ctx.now`, `ctx.random`, `ctx.uuid`.

import { hashStepId } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { TestRun } from './engine.testkit.ts'

test('every pass sees their first values', async () => {
  const seen: unknown[] = []
  const workflow = createWorkflow({ name: 'flow' }, async ({ step, ctx }) => {
    const given = await Promise.all([ctx.now(), ctx.random(), ctx.uuid(), ctx.uuid()])
    seen.push(given)
    await step.run('after', () => 1)
    return given
  })
  const before = Date.now()
  const run = new TestRun(workflow)
  const { data } = await run.drive()
  const [now, random, uuid, another] = data as [number, number, string, string]
  expect(seen).toEqual([data, data])
  expect(now).toBeGreaterThanOrEqual(before)
  expect(now).toBeLessThanOrEqual(Date.now())
  expect(random).toBeGreaterThanOrEqual(0)
  expect(random).toBeLessThan(1)
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(another).not.toBe(uuid)
  expect(run.discovered).toEqual([['ctx.now', 'ctx.random', 'ctx.uuid', 'ctx.uuid'], ['after'], []])
})

test('their steps have ids of their own, for any names of other steps', async () => {
  const workflow = createWorkflow({ name: 'flow' }, async ({ step, ctx }) => [
    await step.run('now', () => 'mine'),
    await step.run('ctx.now', () => 'mine too'),
    typeof (await ctx.now()),
  ])
  const run = new TestRun(workflow)
  expect(await run.drive()).toMatchObject({ status: 200, data: ['mine', 'mine too', 'number'] })
  expect(Object.keys(run.memo)).toEqual(['now', 'ctx.now', 'ctx.now:1'].map(hashStepId))
})

test('inside the callback of a step they are refused like any step', async () => {
  const workflow = createWorkflow({ name: 'flow' }, ({ step, ctx }) => step.run('outer', () => ctx.now()))
  const { opcodes } = await new TestRun(workflow).pass()
  expect(opcodes).toMatchObject([
    {
      error: {
        message: 'Step "ctx.now" was called inside the callback of step "outer": steps cannot be nested',
      },
    },
  ])
})
