// Cleanup runs, pass by pass: which steps are undone, in which order, and what the handler of cancelled runs gets.

import { NonRetriableError } from '@perdure/client'
import type { InvokeContext } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { TestRun } from '../replay/engine.testkit.ts'
import { createWorkflow, type WorkflowOptions } from '../workflow/create-workflow.ts'
import type { StepRunOptions, Workflow, WorkflowArgs } from '../workflow/workflow.ts'

const features = ['cleanup', 'memo-op', 'wait-for-run']
const ctx = { features }

/** All that happened, in order. */
let lines: string[] = []
const undo = (name: string): StepRunOptions<unknown> => ({
  rollback: (result, { idempotencyKey }) => {
    lines.push(`undo ${name}: ${JSON.stringify(result)}`)
    keys.push(idempotencyKey)
  },
})
let keys: string[] = []

/** Runs a workflow to its end, or to its parking, and then the cleanup run that follows it. */
async function cleanedUp(
  handler: (args: WorkflowArgs) => unknown,
  { status = 'failed', options = {}, ctx: more = {}, data }: Followed = {},
): Promise<{ run: TestRun; cleanup: TestRun }> {
  const workflow = createWorkflow({ ...options, name: 'flow' }, handler) as Workflow<never, unknown>
  const run = new TestRun(workflow, { ctx, data, maxAttempts: 1 })
  await run.drive()
  lines = []
  keys = []
  const cleanup = new TestRun(workflow, {
    ctx: { ...ctx, runId: 'run_2', cleanup: run.followed(status), ...more },
    data,
    maxAttempts: 2,
  })
  await cleanup.drive()
  return { run, cleanup }
}

interface Followed {
  status?: 'failed' | 'cancelled'
  options?: Partial<WorkflowOptions>
  ctx?: Partial<InvokeContext>
  data?: unknown
}

const names = ({ discovered }: TestRun) => discovered.flat()

test('the steps that succeeded are undone in the reverse order of their settlement', async () => {
  let executions = 0
  const { cleanup } = await cleanedUp(async ({ step }) => {
    const slow = step.run('slow', () => new Promise(done => setTimeout(() => done(1), 20)), undo('slow'))
    const quick = step.run('quick', () => ({ id: 2 }), undo('quick'))
    await step.run('plain', () => ++executions)
    await Promise.all([slow, quick])
    await step.run('quick', () => [], undo('quick:1'))
    await step.run('broken', () => Promise.reject(new Error('no')), undo('broken'))
  })
  expect(lines).toEqual(['undo quick:1: []', 'undo slow: 1', 'undo quick: {"id":2}'])
  expect(names(cleanup)).toEqual(['rollback:quick:1', 'rollback:slow', 'rollback:quick'])
  expect(cleanup.last).toMatchObject({ status: 200 })
  expect(executions).toBe(1)
})

test('the key of a rollback is of the run that it belongs to', async () => {
  const { cleanup } = await cleanedUp(({ step }) => step.run('charge', () => 1, undo('charge')))
  expect(keys).toEqual([`run_1:${Object.keys(cleanup.memo)[0]}`])
})

test('steps of branches are undone, of losers too', async () => {
  await cleanedUp(async ({ step }) => {
    await step.map('item', [1, 2], item => item * 10, undo('an item'))
    await step.race({
      wins: async () => {
        await step.run('first', () => 'f', undo('first'))
        return step.run('second', () => 's', undo('second'))
      },
      loses: async () => {
        await step.run('tried', () => 't', undo('tried'))
        return step.waitForEvent('never', { event: 'never' })
      },
    })
    throw new NonRetriableError('the end')
  })
  expect(lines).toEqual([
    'undo second: "s"',
    'undo tried: "t"',
    'undo first: "f"',
    'undo an item: 20',
    'undo an item: 10',
  ])
})

test('onCancel runs first, with the results by name', async () => {
  const onCancel: WorkflowOptions['onCancel'] = async ({ event, step, steps, ctx }) => {
    lines.push(`${event.name} ${ctx.runId} ${JSON.stringify(steps)}`)
    await step.run('rollback:b', () => lines.push('told'))
    await step.sleep('a while', '1s')
  }
  const { cleanup } = await cleanedUp(
    async ({ step }) => {
      await step.run('a', () => 1)
      await step.run('a', () => 2)
      await step.emit('told', { event: 'told' })
      await step.waitForRun('other', { runId: 'run_3', timeout: 1 })
      await step.run('b', () => ({ c: 3 }), undo('b'))
      await step.waitForEvent('never', { event: 'never' })
    },
    { status: 'cancelled', options: { onCancel } },
  )
  expect(lines.filter((line, i) => i === 0 || !line.startsWith('test'))).toEqual([
    'test run_2 {"a":1,"a:1":2,"other":null,"b":{"c":3}}',
    'told',
    'undo b: {"c":3}',
  ])
  expect(names(cleanup)).toEqual(['rollback:b', 'a while', 'rollback:b'])
  expect(new Set(Object.keys(cleanup.memo)).size).toBe(3)
})

test('a rollback that fails is tried again, and does not stop the others', async () => {
  const { cleanup } = await cleanedUp(async ({ step }) => {
    await step.run('a', () => 1, undo('a'))
    for (const name of ['b', 'c']) {
      const rollback = () => {
        lines.push(name)
        throw new Error(`${name} is stuck`)
      }
      await step.run(name, () => 1, { rollback })
    }
  })
  expect(lines).toEqual(['c', 'c', 'b', 'b', 'undo a: 1'])
  expect(cleanup.last).toMatchObject({
    status: 400,
    error: {
      name: 'CleanupError',
      code: 'step_failed',
      stepName: 'rollback:c',
      message: 'Step "c" was not undone: c is stuck (also not undone: "b")',
    },
  })
})

test('an onCancel that fails does not stop the rollbacks, and is tried again', async () => {
  const options = {
    onCancel: () => {
      throw new Error('not now')
    },
  }
  const { cleanup } = await cleanedUp(({ step }) => step.run('a', () => 1, undo('a')), { status: 'cancelled', options })
  expect(lines).toEqual(['undo a: 1'])
  expect(cleanup.last).toMatchObject({ status: 500, error: { message: 'onCancel failed: not now' } })
})

test('a step that the code calls no more fails its rollback alone', async () => {
  let isOld = true
  const { cleanup } = await cleanedUp(async ({ step }) => {
    await step.run('a', () => 1, undo('a'))
    if (isOld) await step.run('b', () => 2, undo('b'))
    isOld = false
    await step.run('c', () => 3, undo('c'))
  })
  expect(lines).toEqual(['undo c: 3', 'undo a: 1'])
  expect(cleanup.passes.flatMap(({ opcodes }) => opcodes)).toMatchObject([
    { name: 'rollback:c' },
    { name: 'rollback:b', error: { message: 'The code no longer calls step "b" with a rollback' }, retriable: false },
    { name: 'rollback:a' },
  ])
})

test('a replay waits for a handler that awaits something else than steps, also beside an open step', async () => {
  const idle = (ms: number) => new Promise(done => setTimeout(done, ms))
  let isFollowed = true
  await cleanedUp(async ({ step }) => {
    await step.run('a', () => 1, undo('a'))
    const open = isFollowed ? undefined : step.waitForEvent('never', { event: 'never' })
    await idle(30)
    isFollowed = false
    await step.run('b', () => 2, undo('b'))
    await open
  })
  expect(lines).toEqual(['undo b: 2', 'undo a: 1'])
})

test('a handler whose replay never settles holds the rollbacks up for a bounded time', async () => {
  let isFollowed = true
  const handler = async ({ step }: WorkflowArgs) => {
    await step.run('a', () => 1, undo('a'))
    if (!isFollowed) await new Promise(() => {})
    await step.run('b', () => 2, undo('b'))
    isFollowed = false
  }
  const first = await cleanedUp(handler, { ctx: { invokeTimeoutMs: 40 } })
  expect(first.cleanup.last).toMatchObject({ status: 500, error: { message: /did not reach all of them/ } })
  isFollowed = true
  const last = await cleanedUp(handler, { ctx: { invokeTimeoutMs: 40, attempt: 3 } })
  expect(lines).toEqual(['undo a: 1'])
  expect(last.cleanup.last).toMatchObject({ status: 400, error: { message: /^Step "b" was not undone/ } })
})

test('a replay executes, stores and reports nothing', async () => {
  let effects = 0
  const { cleanup } = await cleanedUp(async ({ step, ctx }) => {
    ctx.logger.info('handler')
    ctx.attributes({ a: 1 })
    await step.run('a', () => 1, undo('a'))
    await Promise.all([
      step.run('new', () => ++effects && Promise.reject(new Error('no'))),
      step.run('lost', () => ++effects && Promise.reject(new Error('no'))),
    ])
    await step.emit('done', { event: 'done' })
  })
  expect(effects).toBe(2)
  expect(names(cleanup)).toEqual(['rollback:a'])
  expect(cleanup.passes.flatMap(({ logs }) => logs)).toEqual([])
  expect(cleanup.passes.map(pass => 'attributes' in pass)).toEqual([false, false])
})

test('middleware reads the results that rollbacks and onCancel get', async () => {
  const options: Partial<WorkflowOptions> = {
    middleware: [
      {
        name: 'wrap',
        transformOutput: value => ({ wrapped: value }),
        transformInput: value => (value as { wrapped?: unknown } | undefined)?.wrapped,
      },
    ],
    onCancel: ({ steps }) => void lines.push(JSON.stringify(steps)),
  }
  const handler = ({ event, step }: WorkflowArgs) => step.run(event.data as string, () => 'x', undo('a'))
  await cleanedUp(handler, { status: 'cancelled', options, data: { wrapped: 'a' } })
  expect(lines).toEqual(['{"a":"x"}', 'undo a: "x"', '{"a":"x"}'])
})

test('middleware wraps the cleanup, the replay in it, and each rollback', async () => {
  const options: Partial<WorkflowOptions> = {
    middleware: [
      {
        name: 'tell',
        wrapRun: async ({ ctx, next }) => {
          lines.push(`begin ${ctx.runId}`)
          await next()
        },
        wrapStep: ({ step, next }) => {
          lines.push(`step ${step.name}`)
          return next()
        },
        onPassEnd: ({ ctx, end }) => void lines.push(`${end.kind} ${ctx.runId}`),
      },
    ],
  }
  await cleanedUp(({ step }) => step.run('a', () => 1, undo('a')), { options })
  expect(lines).toEqual([
    'begin run_2',
    'begin run_1',
    'step rollback:a',
    'undo a: 1',
    'parked run_2',
    'begin run_2',
    'returned run_2',
  ])
})

test.each([
  ['Step "s": this engine does not support rollbacks (cleanup)', [], { rollback: () => {} }, 's'],
  ['Step "s": rollback must be a function', features, { rollback: true as never }, 's'],
  ['with "rollback:" before it, its name is longer than 1024 characters', features, undo(''), 'x'.repeat(1016)],
] as const)('%s', async (message, known, options, name) => {
  const workflow = createWorkflow({ name: 'flow' }, ({ step }) => step.run(name, () => 1, options))
  const { status, error, opcodes } = await new TestRun(workflow, { ctx: { features: [...known] } }).pass()
  expect({ status, opcodes }).toEqual({ status: 400, opcodes: [] })
  expect(error?.message).toContain(message)
})

test('a workflow with onCancel says so, and needs an engine that knows it', async () => {
  const workflow = createWorkflow({ name: 'flow', onCancel: () => {} }, ({ step }) => step.run('a', () => 1))
  expect(workflow.registration.cleanup).toBe(true)
  const { status, error } = await new TestRun(workflow).pass()
  expect({ status, message: error?.message }).toEqual({
    status: 400,
    message: 'Workflow "flow": this engine does not support onCancel (cleanup)',
  })
  expect(await new TestRun(workflow, { ctx }).drive()).toMatchObject({ status: 200 })
})

test('only a success says that the step can be undone', async () => {
  const workflow = createWorkflow({ name: 'flow' }, async ({ step }) => {
    await step.run('a', () => 1, undo('a'))
    await step.run('b', () => Promise.reject(new Error('no')), undo('b'))
  })
  const run = new TestRun(workflow, { ctx, maxAttempts: 1 })
  await run.drive()
  const sent = run.passes.flatMap(({ opcodes }) => opcodes)
  expect(sent.map(opcode => [opcode.name, 'rollback' in opcode && opcode.rollback])).toEqual([
    ['a', true],
    ['b', false],
  ])
})
