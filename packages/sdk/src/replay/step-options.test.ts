// Options of the step tools: unknown ones and policies that the engine would refuse end the run at once, with a sentence.

import { RetryPolicySchema } from '@perdure/protocol/schema'
import Value from 'typebox/value'
import { expect, test } from 'vitest'
import type { RunContext } from '../run/run-context.ts'
import type { StepTools } from '../workflow/workflow.ts'
import { runOf } from './engine.testkit.ts'
import { checkRunOptions } from './step-options.ts'

test.each<[string, (step: StepTools, ctx: RunContext) => Promise<unknown>]>([
  ['run has no option "rety"; did you mean "retry"?', step => step.run('s', () => 1, { rety: {} } as never)],
  [
    'retry has no option "attempts"; did you mean "maxAttempts"?',
    step => step.run('s', () => 1, { retry: { attempts: 2 } } as never),
  ],
  [
    'retry.maxAttempts must be "unlimited" or an integer from 1 to 1000, not 0',
    step => step.run('s', () => 1, { retry: { maxAttempts: 0 } }),
  ],
  ['not a duration', step => step.run('s', () => 1, { timeout: 'soon' as never })],
  ['run takes an object of options', step => step.run('s', () => 1, '30s' as never)],
  [
    'waitForEvent has no option "timout"; did you mean "timeout"?',
    step => step.waitForEvent('s', { event: 'e', timout: 1 } as never),
  ],
  ['waitForEvent takes an object of options', step => step.waitForEvent('s', 'e' as never)],
  [
    'runWorkflow has no option "input"; did you mean "data"?',
    step => step.runWorkflow('s', { workflow: 'w', input: 1 } as never),
  ],
  ['emit has no option "dta"; did you mean "data"?', step => step.emit('s', { event: 'e', dta: 1 } as never)],
  ['webhook.send has no option "uri"; did you mean "url"?', (_, ctx) => ctx.webhook.send('s', { uri: 'x' } as never)],
])('%s', async (message, call) => {
  const { status, error, opcodes } = await runOf(({ step, ctx }) => call(step, ctx)).pass()
  expect({ status, message: error?.message, opcodes }).toEqual({
    status: 400,
    message: expect.stringContaining(`Step "s": ${message}`),
    opcodes: [],
  })
})

test.each([
  [{ limit: 'openai' }, 'this engine does not support limits of steps (step-limits)', []],
  [{ limit: '' }, 'limit must be the name of a limit, a string of 1 to 128 characters', ['step-limits']],
  [{ limit: 'openai', limitKey: 'k'.repeat(257) }, 'limitKey must be a string of 1 to 256 characters', ['step-limits']],
  [{ limitKey: 'eu' }, 'limitKey has no effect without limit', ['step-limits']],
])('a step with %j is refused: %s', async (options, message, features) => {
  const run = runOf(({ step }) => step.run('s', () => 1, options), { ctx: { features } })
  expect(await run.pass()).toMatchObject({ status: 400, error: { message: `Step "s": ${message}` } })
})

test('the bounds of a retry policy are those of the wire', () => {
  const isRefused = (retry: object) => {
    try {
      checkRunOptions({ name: 's', use: 0, hashedId: '' }, { retry })
      return false
    } catch {
      return true
    }
  }
  for (const field of Object.keys(RetryPolicySchema.properties)) {
    for (const value of [
      -1,
      -0.1,
      0,
      0.5,
      1,
      1.5,
      2,
      100,
      100.5,
      1000,
      1001,
      86_400_000,
      86_400_001,
      604_800_000,
      604_800_001,
      Number.NaN,
      '1s',
      null,
    ]) {
      const retry = { [field]: value }
      expect([retry, isRefused(retry)]).toEqual([retry, !Value.Check(RetryPolicySchema, retry)])
    }
  }
})
