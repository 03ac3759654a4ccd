// Amounts that a callback spends, as the opcode of its attempt carries them.

import { expect, test } from 'vitest'
import { TestRun } from '../replay/engine.testkit.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { StepContext } from './run-context.ts'

const features = ['budgets']

async function opcodeOf(callback: (context: StepContext) => unknown, ctx: object = { features }) {
  const workflow = createWorkflow({ name: 'flow' }, ({ step }) => step.run('s', callback))
  const { opcodes } = await new TestRun(workflow, { ctx }).pass()
  return opcodes[0] as { spent?: object; retriable?: boolean; error?: { name: string; message: string } }
}

test('the amounts of an attempt add up, with a result and with an error', async () => {
  const spent = { usd: 0.5, tokens: 912 }
  const ran = await opcodeOf(({ spend }) => {
    spend({ usd: 0.25, tokens: 912 })
    spend({ usd: 0.25 })
  })
  expect(ran.spent).toEqual(spent)
  const failed = await opcodeOf(({ spend }) => {
    spend(spent)
    throw new Error('no')
  })
  expect(failed).toMatchObject({ spent, error: { message: 'no' } })
  expect(await opcodeOf(() => 1)).not.toHaveProperty('spent')
})

test.each([
  [{ usd: -1 }, 'usd must be a number of at least 0'],
  [{ usd: Number.NaN }, 'usd must be a number'],
  [{ usd: '1' }, 'usd must be a number'],
  [{ usd: 2e9 }, 'at most 1000000000'],
  [{ steps: 1 }, '"steps" cannot be spent'],
  [{ 'a b': 1 }, 'the name "a b" must be 1 to 64'],
  [Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`n${i}`, 1])), 'at most 16 names'],
  [null, 'takes an object of numbers'],
])('spend(%j) fails the step for good, and adds nothing', async (amounts, message) => {
  const opcode = await opcodeOf(({ spend }) => spend(amounts as never))
  expect(opcode).toMatchObject({ retriable: false, error: { message: expect.stringContaining(message) } })
  expect(opcode).not.toHaveProperty('spent')
})

test('an engine without the feature fails the step, naming it', async () => {
  const opcode = await opcodeOf(({ spend }) => spend({ usd: 1 }), { features: [] })
  expect(opcode).toMatchObject({ retriable: false, error: { message: expect.stringContaining('(budgets)') } })
})
