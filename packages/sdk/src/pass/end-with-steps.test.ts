// Results that the handler gets before they are stored, and answers that end a run with its last steps
// (docs/wire-protocol.md#end-with-steps).

import { NonRetriableError } from '@perdure/client'
import { describe, expect, test } from 'vitest'
import { runOf } from '../replay/engine.testkit.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'

const ctx = { features: ['end-with-steps'] }
const shapes = (run: ReturnType<typeof runOf>) =>
  run.passes.map(({ status, opcodes }) => [status, ...opcodes.map(({ name }) => name)])

const three = async ({ step }: WorkflowArgs) => {
  let sum = 0
  for (const name of ['a', 'b', 'c']) sum += await step.run(name, () => 1)
  return sum
}

describe('a run of three steps', () => {
  test('takes three passes, and its last step comes with the end', async () => {
    const run = runOf(three, { ctx })
    expect((await run.drive()).data).toBe(3)
    expect(shapes(run)).toEqual([
      [206, 'a'],
      [206, 'b'],
      [200, 'c'],
    ])
  })

  test('takes four where the engine does not know that', async () => {
    const run = runOf(three)
    expect((await run.drive()).data).toBe(3)
    expect(shapes(run)).toEqual([[206, 'a'], [206, 'b'], [206, 'c'], [200]])
  })
})

test('no callback begins before what the handler has got is stored', async () => {
  const began: string[] = []
  const run = runOf(
    async ({ step }) => {
      const note = (name: string) => step.run(name, () => began.push(name))
      await Promise.all([note('a'), note('b')])
      await Promise.all([note('c'), step.sleep('nap', 1), note('d')])
    },
    { ctx },
  )
  await run.pass()
  expect([began, shapes(run)]).toEqual([['a', 'b'], [[206, 'a', 'b', 'nap']]])
})

test('the end carries events, webhooks and values of the SDK that follow a step', async () => {
  const run = runOf(
    async ({ step, ctx }) => {
      await step.run('a', () => 1)
      await step.emit('tell', { event: 'told' })
      await ctx.webhook.send('call', { url: 'https://example.com' })
      return typeof (await ctx.now())
    },
    { ctx },
  )
  await run.drive()
  expect(shapes(run)).toEqual([[200, 'a', 'tell', 'call', 'ctx.now']])
  expect(run.last.data).toBe('number')
})

test.each([
  ['an event name that the engine refuses', 'to\u0000ld', 'https://example.com'],
  ['a URL that it refuses', 'told', 'https://user:secret@example.com'],
])('%s is reported before the handler goes by it', async (_, event, url) => {
  const run = runOf(
    async ({ step, ctx }) => {
      await step.emit('tell', { event })
      await ctx.webhook.send('call', { url })
    },
    { ctx },
  )
  await run.pass()
  expect(run.last.status).toBe(206)
})

describe('a failure', () => {
  const declined = ({ step }: WorkflowArgs) =>
    step.run('pay', () => {
      throw new NonRetriableError('declined')
    })

  test('that is caught comes with the end', async () => {
    const run = runOf(args => declined(args).catch((error: Error) => error.message), { ctx })
    await run.drive()
    expect(run.passes).toMatchObject([
      { status: 200, data: 'declined', opcodes: [{ name: 'pay', retriable: false, catchable: true }] },
    ])
  })

  test('that nobody catches is stored before it ends the run', async () => {
    const run = runOf(declined, { ctx })
    await run.drive()
    expect(shapes(run)).toEqual([[206, 'pay'], [400]])
    expect(run.last.error).toMatchObject({ code: 'step_failed', stepName: 'pay' })
  })

  test('that has more attempts is not given to the handler', async () => {
    const run = runOf(
      ({ step }) =>
        step
          .run('pay', () => {
            throw new Error('not yet')
          })
          .catch(() => 'seen'),
      { ctx, maxAttempts: 2 },
    )
    await run.drive()
    expect(shapes(run)).toEqual([[206, 'pay'], [206, 'pay'], [200]])
  })

  test.each([
    ['for good', new NonRetriableError('broken'), 400],
    ['for now', new Error('broken'), 500],
  ])('of the handler %s ends no run with its steps', async (_, error, status) => {
    const run = runOf(
      async ({ step }) => {
        await step.run('a', () => 1)
        await step.emit('tell', { event: 'told' })
        throw error
      },
      { ctx },
    )
    await run.drive()
    expect(shapes(run)).toEqual([[206, 'a', 'tell'], [status]])
  })
})

test('a step beside a timer, a wait or a child is reported first', async () => {
  const run = runOf(({ step }) => Promise.race([step.run('a', () => 1), step.sleep('limit', '1m')]), {
    ctx,
    settle: () => undefined,
  })
  await run.drive()
  expect(shapes(run)).toEqual([[206, 'limit', 'a'], [200]])
})

test('code that waits for something outside of steps is not waited for', async () => {
  const run = runOf(
    async ({ step }) => {
      await step.run('a', () => 1)
      return new Promise(resolve => setTimeout(resolve, 30, 'late'))
    },
    { ctx },
  )
  await run.drive()
  expect(shapes(run)).toEqual([[206, 'a'], [200]])
  expect(run.last.data).toBe('late')
})

test('a callback that nobody awaits runs before the run ends', async () => {
  const began: string[] = []
  const run = runOf(
    async ({ step }) => {
      await step.run('a', () => began.push('a'))
      void step.run('b', () => began.push('b'))
      return 'done'
    },
    { ctx },
  )
  await run.drive()
  expect([began, shapes(run)]).toEqual([
    ['a', 'b'],
    [
      [206, 'a'],
      [200, 'b'],
    ],
  ])
})

test('steps and a result that are too large for one answer come one after the other', async () => {
  const large = 'x'.repeat(100_000)
  const run = runOf(
    async ({ step }) => {
      await step.run('a', () => large)
      return large.repeat(10)
    },
    { ctx },
  )
  await run.drive()
  expect(shapes(run)).toEqual([[206, 'a'], [200]])
})
