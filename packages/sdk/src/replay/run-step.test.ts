// The context of a step callback, and the opcode of its failure.

import { NonRetriableError } from '@perdure/client'
import { hashStepId, type InvokeContext } from '@perdure/protocol'
import { describe, expect, test, vi } from 'vitest'
import type { StepContext } from '../run/run-context.ts'
import { RetryAfterError } from '../wire/errors.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { TestRun } from './engine.testkit.ts'

function runOf(callback: (context: StepContext) => unknown, options?: { catch?: boolean }): TestRun {
  const workflow = createWorkflow({ name: 'flow' }, ({ step }) => step.run('s', callback, options))
  return new TestRun(workflow, { ctx: { attempt: 2 } })
}

async function opcodeOf(callback: () => unknown, options?: { catch?: boolean }) {
  const { status, opcodes } = await runOf(callback, options).pass()
  expect(status).toBe(206)
  return opcodes[0]
}

describe('a failing callback', () => {
  test('is a StepRun with its error, retriable and catchable by default', async () => {
    const opcode = await opcodeOf(async () => {
      throw new RangeError('out of stock')
    })
    expect(opcode).toEqual({
      op: 'StepRun',
      id: hashStepId('s'),
      name: 's',
      error: {
        name: 'RangeError',
        message: 'out of stock',
        stack: expect.stringContaining('run-step.test.ts'),
      },
      catchable: true,
    })
  })

  test('includes the stacks of its causes', async () => {
    const opcode = await opcodeOf(() => {
      throw new Error('fetch failed', { cause: new Error('ECONNREFUSED') })
    })
    expect(opcode).toMatchObject({
      error: { stack: expect.stringMatching(/fetch failed[\s\S]*Caused by: Error: ECONN/) },
    })
  })

  test('of a missing value names the step and the line', async () => {
    const order = undefined as unknown as { total: number }
    expect(await opcodeOf(() => order.total)).toMatchObject({
      error: {
        name: 'TypeError',
        message: expect.stringMatching(
          /^Cannot read properties of undefined \(reading 'total'\) \(in step "s", packages\/sdk\/src\/replay\/run-step\.test\.ts:\d+:\d+\)$/,
        ),
      },
    })
  })

  test('keeps the message of every other error', async () => {
    const opcode = await opcodeOf(() => {
      throw new TypeError('the address is missing')
    })
    expect(opcode).toMatchObject({ error: { message: 'the address is missing' } })
  })

  test('is not catchable with catch: false', async () => {
    const opcode = await opcodeOf(
      () => {
        throw new Error('no')
      },
      { catch: false },
    )
    expect(opcode).toMatchObject({ error: { message: 'no' } })
    expect(opcode).not.toHaveProperty('catchable')
  })

  test('NonRetriableError sets retriable: false', async () => {
    const opcode = await opcodeOf(() => {
      throw new NonRetriableError('never')
    })
    expect(opcode).toMatchObject({ retriable: false, error: { name: 'NonRetriableError', message: 'never' } })
  })

  test.each([
    ['milliseconds', 1500, 1500],
    ['a duration', '2m', 120_000],
    ['a date', new Date(1_000_500), 500],
    ['a date in the past', new Date(0), 0],
  ])('RetryAfterError with %s says retryAfterMs', async (_, after, expected) => {
    vi.spyOn(Date, 'now').mockReturnValue(1_000_000)
    const opcode = await opcodeOf(() => {
      throw new RetryAfterError('busy', after)
    })
    vi.restoreAllMocks()
    expect(opcode).toMatchObject({
      retryAfterMs: expected,
      error: { name: 'RetryAfterError', message: 'busy' },
    })
    expect(opcode).not.toHaveProperty('retriable')
  })

  test('may throw any value', async () => {
    const hostile = {
      get message(): string {
        throw new Error('hands off')
      },
    }
    for (const [thrown, message] of [
      ['text', 'text'],
      [undefined, 'undefined'],
      [12n, '[object BigInt]'],
      [{ message: 'from another realm', name: 'Other' }, 'from another realm'],
      [hostile, 'A value that cannot be read was thrown'],
      [new Error('x'.repeat(100_000)), `${'x'.repeat(16_384)}...`],
    ]) {
      const opcode = await opcodeOf(() => {
        throw thrown
      })
      expect(opcode).toMatchObject({ error: { message } })
    }
  })

  test('is retried by the engine until it succeeds', async () => {
    let attempts = 0
    const run = runOf(() => {
      attempts++
      if (attempts < 3) throw new Error('flaky')
      return attempts
    })
    expect(await run.drive()).toMatchObject({ status: 200, data: 3 })
  })
})

describe('a result that cannot be stored is a non-retriable error', () => {
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  test.each([
    [
      'a BigInt',
      { n: 1n },
      'The result of step "s" cannot be stored as JSON: it has a BigInt at "n". Store it as text: String(value)',
    ],
    ['a cycle', cyclic, 'The result of step "s" cannot be stored as JSON: Converting circular structure to JSON'],
    ['a function', () => 1, 'The result of step "s" cannot be stored as JSON: it is a function'],
    ['too much', 'x'.repeat(1_100_000), /^The result of step "s" is too large: 1100002 bytes of JSON/],
    ['too much in bytes', '€'.repeat(400_000), /^The result of step "s" is too large: 1200002 bytes of JSON/],
  ])('%s', async (_, result, message) => {
    const expected = typeof message === 'string' ? message : expect.stringMatching(message)
    expect(await opcodeOf(() => result)).toMatchObject({ retriable: false, error: { message: expected } })
  })

  test('also when it is the result of the workflow', async () => {
    const workflow = createWorkflow({ name: 'flow' }, () => ({ n: 1n }))
    expect(await new TestRun(workflow).pass()).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('The result of the workflow cannot be stored as JSON') },
    })
  })
})

describe('the context of a callback', () => {
  test('has a key that differs from the key of every other step', async () => {
    const workflow = createWorkflow({ name: 'flow' }, async ({ step }) => {
      const key = ({ idempotencyKey }: StepContext) => idempotencyKey
      return Promise.all([step.run('s', key), step.run('s', key)])
    })
    const { opcodes } = await new TestRun(workflow).pass()
    expect(opcodes).toMatchObject([{ data: `run_1:${hashStepId('s')}` }, { data: `run_1:${hashStepId('s:1')}` }])
  })

  test('has the attempt of its step and the last one by its policy', async () => {
    const workflow = createWorkflow({ name: 'flow', retry: { maxAttempts: 3 } }, async ({ step }) => {
      const attempts = ({ attempt, maxAttempts }: StepContext) => `${attempt} of ${maxAttempts}`
      return Promise.all([
        step.run('new', attempts),
        step.run('again', attempts),
        step.run('resumed', attempts),
        step.run('own', attempts, { retry: { maxAttempts: 'unlimited' } }),
      ])
    })
    const attemptsIn = async (ctx: Partial<InvokeContext>) => {
      const { opcodes } = await new TestRun(workflow, { ctx: { attempt: 7, ...ctx } }).pass()
      return opcodes.map(opcode => 'data' in opcode && opcode.data)
    }
    const counted = {
      features: ['memo-attempt'],
      stepAttempts: { [hashStepId('again')]: 2, [hashStepId('resumed')]: 5 },
      spentAttempts: { [hashStepId('resumed')]: 3 },
    }
    expect(await attemptsIn(counted)).toEqual(['1 of 3', '2 of 3', '5 of 6', '1 of Infinity'])
    expect((await attemptsIn({}))[0]).toBe('7 of 3')
  })

  test('has a signal that is not aborted', async () => {
    expect(await opcodeOf(((context: StepContext) => context.signal.aborted) as () => unknown)).toMatchObject({
      data: false,
    })
  })
})

describe("a step's own policy", () => {
  const failing = (options: object, features?: string[]) =>
    new TestRun(
      createWorkflow({ name: 'flow' }, ({ step }) => step.run('s', () => Promise.reject(new Error('no')), options)),
      { ctx: { ...(features && { features }) } },
    ).pass()

  test('is sent to an engine that knows it, and to no other', async () => {
    const retry = { maxAttempts: 2 }
    expect((await failing({ retry }, ['step-policy'])).opcodes).toMatchObject([{ retry }])
    expect((await failing({ retry })).opcodes[0]).not.toHaveProperty('retry')
  })

  test('bounds the time of an attempt: its signal aborts, and it fails with step_timeout', async () => {
    let reason: unknown
    const run = runOf(
      ({ signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
          })
        }),
      { timeout: 5 } as object,
    )
    const { opcodes } = await run.pass()
    expect(opcodes).toMatchObject([{ error: { name: 'StepTimeoutError', code: 'step_timeout' }, catchable: true }])
    expect(reason).toMatchObject({ code: 'step_timeout' })
  })
})

test('a step that is stored as another kind ends the pass, whatever the handler catches', async () => {
  const run = new TestRun(createWorkflow({ name: 'flow' }, ({ step }) => step.sleep('s', 5).catch(() => 'caught')))
  run.settle('s', { data: 1, op: 'StepRun' })
  expect(await run.pass()).toMatchObject({
    status: 400,
    error: { code: 'nondeterministic', message: expect.stringMatching(/"s" is stored as StepRun.* calls it as Sleep/) },
  })
})

describe('the times of an attempt', () => {
  const timed = (features?: string[]) => {
    const workflow = createWorkflow({ name: 'flow' }, ({ step }) =>
      Promise.all([
        step.run('slow', () => new Promise(resolve => setTimeout(resolve, 30))),
        step.run('bad', () => Promise.reject(new Error('no'))),
      ]),
    )
    return new TestRun(workflow, { ctx: { attempt: 1, ...(features && { features }) } }).pass()
  }

  test('are measured for an engine that keeps them, each for itself', async () => {
    const { opcodes } = await timed(['step-times'])
    const times = opcodes as { offsetMs?: number; durationMs?: number }[]
    for (const { offsetMs, durationMs } of times) {
      expect([offsetMs, durationMs].every(Number.isInteger)).toBe(true)
    }
    const [bad, slow] = times
    expect(slow?.durationMs).toBeGreaterThanOrEqual(29)
    expect(bad?.durationMs).toBeLessThan(slow?.durationMs as number)
  })

  test('are not sent to an engine that does not', async () => {
    for (const opcode of (await timed()).opcodes) expect(opcode).not.toHaveProperty('durationMs')
  })
})
