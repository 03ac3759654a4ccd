// Warnings about mistakes in a workflow's code, and passes that must not warn.

import { hashStepId, type MemoEntry, type RunnerLogLine } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { Workflow, WorkflowArgs } from '../workflow/workflow.ts'
import { signal, TestRun } from './engine.testkit.ts'
import { invoke } from './invoke.ts'

type Handler = (args: WorkflowArgs) => Promise<unknown>

/** A run whose earlier steps were stored by other code. */
function runOf(handler: Handler, stored: Record<string, MemoEntry> = {}): TestRun {
  const run = new TestRun(createWorkflow({ name: 'flow' }, handler))
  for (const [stepId, entry] of Object.entries(stored)) run.settle(stepId, entry)
  return run
}

const warnings = (logs: RunnerLogLine[]) => logs.filter(({ scope }) => scope === '@replay')
const messages = (logs: RunnerLogLine[]) => warnings(logs).map(({ message }) => message)
const idOf = (stepId: string) => `${hashStepId(stepId).slice(0, 8)}…`
const REASON =
  'Its code has changed since they were stored (a step was renamed, removed or moved), or its path depends on ' +
  'something outside steps (time, randomness, I/O, shared state).'

describe('a step that is called after the handler has returned', () => {
  const AWAIT =
    'Await every branch that calls steps: forEach does not wait for its functions, Promise.all(list.map(...)) and for ... of do.'

  test('is logged when an earlier step of its branch is stored, and not run', async () => {
    const ran: string[] = []
    const run = runOf(async ({ step }) => {
      ;[1, 2].forEach(async i => {
        await step.run(`first ${i}`, () => ran.push(`first ${i}`))
        await step.run(`second ${i}`, () => ran.push(`second ${i}`))
      })
    })
    const { logs } = await run.drive()
    expect(messages(logs)).toEqual([
      `Steps "second 1", "second 2" were called after the handler had returned, and never run. ${AWAIT}`,
    ])
    expect(ran).toEqual(['first 1', 'first 2'])
  })

  test('is logged by the runner when the run has ended', async () => {
    const late = signal()
    const workflow = createWorkflow({ name: 'flow' }, async ({ step }) => {
      setTimeout(() => {
        void step.run('late', () => 1)
        void step.run('later', () => 1)
        late.resolve()
      }, 1)
    })
    const logged: string[] = []
    const ctx = { runId: 'run_1', workflow: 'flow', attempt: 1 }
    const log = (level: string, message: string) => void logged.push(`${level} ${message}`)
    await invoke(workflow as Workflow, { event: { name: 'e' }, steps: {}, ctx } as never, { log })
    await late.promise
    expect(logged).toEqual([
      `warn run run_1 of workflow "flow" (attempt 1) called step "late" after the handler had returned: the step is never run. ${AWAIT}`,
    ])
  })

  test.each<[string, Handler]>([
    [
      'that lost a race, and whose branch calls no other',
      ({ step }) => Promise.race([step.run('quick', () => 1), step.sleep('slow', '1d')]),
    ],
    ['of a branch that ends with it', async ({ step }) => void step.run('last', () => 1).then(() => 2)],
  ])('is not one %s', async (_, handler) => {
    const { logs } = await runOf(handler).drive()
    expect(warnings(logs)).toEqual([])
  })
})

describe('a step that nobody awaited', () => {
  test('is logged when the handler has returned, at a position of its own', async () => {
    const run = runOf(async ({ step, ctx }) => {
      ctx.logger.info('begin')
      void step.run('forgotten', () => 1)
      void step.emit('announced', { event: 'e' })
      await step.run('awaited', () => 2)
      ctx.logger.info('end')
    })
    const { logs } = await run.drive()
    expect(warnings(logs)).toMatchObject([
      {
        level: 'warn',
        index: 0,
        message:
          'Steps "forgotten", "announced" were never awaited: the handler returned without using the result or noticing a failure.',
      },
    ])
    expect(logs.filter(({ scope }) => scope === '@root')).toHaveLength(2)
    for (const pass of run.passes.slice(0, -1)) expect(warnings(pass.logs)).toEqual([])
  })

  test('of a child that has not ended is cancelled, and the line says so', async () => {
    const run = runOf(async ({ step }) => {
      void step.runWorkflow('report', { workflow: 'report' })
      await step.run('awaited', () => 2)
    })
    const { logs } = await run.drive()
    expect(messages(logs)).toEqual([
      'Step "report" was never awaited: the handler returned without using the result or noticing a failure. The child of ' +
        '"report" is cancelled when the run ends: await the step, or emit an event that starts a separate run.',
    ])
  })

  test.each<[string, Handler]>([
    [
      'awaited late',
      async ({ step }) => {
        const a = step.run('a', () => 1)
        await step.run('b', () => 2)
        return a
      },
    ],
    ['returned', ({ step }) => step.run('a', () => 1)],
    [
      'followed by then, catch or finally',
      async ({ step }) => {
        const [a, b, c] = [step.run('a', () => 1), step.run('b', () => 2), step.run('c', () => 3)]
        a.then(() => undefined)
        b.catch(() => undefined)
        await c.finally(() => undefined)
      },
    ],
    [
      'the loser of a race, or among many',
      async ({ step }) => {
        await Promise.race([step.sleep('pause', 1), step.run('a', () => 1), step.waitForEvent('w', { event: 'e' })])
        await Promise.all([step.sleep('all', 1), step.run('b', () => 1)])
        await Promise.allSettled([step.emit('announce', { event: 'e' })])
        await Promise.any([step.sleep('any', 1), step.run('c', () => 1)])
      },
    ],
    [
      'a wait or a child that is awaited',
      async ({ step, ctx }) => {
        await step.waitForEvent('w', { event: 'e' })
        await step.runWorkflow('child', { workflow: 'w' })
        await ctx.webhook.send('hook', { url: 'https://example.com' })
        await ctx.now()
      },
    ],
  ])('is not one that is %s', async (_, handler) => {
    const run = new TestRun(createWorkflow({ name: 'flow' }, handler), { settle: () => ({ data: null }) })
    expect((await run.drive()).status).toBe(200)
    expect(run.passes.flatMap(({ logs }) => messages(logs))).toEqual([])
  })
})

describe('a stored step that the handler does not call', () => {
  test('is logged when the handler returned, with the step before it', async () => {
    const run = runOf(({ step }) => step.run('a', () => 1), { a: { data: 1 }, removed: { data: 2 } })
    expect(messages((await run.pass()).logs)).toEqual([
      `The handler returned without calling 1 of the 2 stored steps (${idOf('removed')}, stored after "a"). ${REASON}`,
    ])
  })

  test('is logged when the handler called a new step instead, with its name', async () => {
    const run = runOf(
      async ({ step }) => {
        await step.run('a', () => 1)
        await step.run('renamed', () => 2)
      },
      { a: { data: 1 }, 'old name': { data: 2 } },
    )
    const { status, logs } = await run.pass()
    expect(status).toBe(206)
    expect(warnings(logs)).toMatchObject([
      {
        level: 'warn',
        index: 1,
        message: `Expected 1 of the 2 stored steps (${idOf('old name')}, stored after "a"), saw the new step "renamed". ${REASON}`,
      },
    ])
  })

  test('is logged by name when this process has seen it, and its further uses', async () => {
    let passes = 0
    const run = runOf(async ({ step }) => {
      if (passes++ === 2) return
      await step.run('seen', () => 1)
      await step.run('seen', () => 2)
    })
    const { logs } = await run.drive()
    expect(messages(logs)).toEqual([
      `The handler returned without calling 2 of the 2 stored steps ("seen"; "seen:1"). ${REASON}`,
    ])
  })

  test('is logged in short when there are many', async () => {
    const stored = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`long-gone-${i}`, { data: i }]))
    const [message] = messages((await runOf(async () => 'gone', stored).pass()).logs)
    expect(message).toContain(`9 of the 9 stored steps (${idOf('long-gone-0')}; `)
    expect(message).toContain('; and 4 more)')
  })

  test('is not logged for a pass that could not get that far', async () => {
    const handler: Handler = async ({ step }) => {
      await step.sleep('long', 1)
      await step.run('after', () => 1)
    }
    const waiting = runOf(handler, { after: { data: 1 }, long: { pending: true } })
    expect(messages((await waiting.pass()).logs)).toEqual([])
    const throwing = runOf(
      async ({ step }) => {
        void step.run('new', () => 1)
        throw new Error('flaky')
      },
      { a: { data: 1 } },
    )
    expect(messages((await throwing.pass()).logs)).toEqual([])
  })

  test('is not logged when the loser of a race was stored, too', async () => {
    const gate = signal()
    const run = runOf(async ({ step }) => {
      const winner = await Promise.race([
        step.run('quick', () => 'quick'),
        step.run('slow', () => gate.promise.then(() => 'slow')).then(() => step.run('more', () => 'more')),
      ])
      return step.run('after', () => winner)
    })
    gate.resolve()
    expect(await run.drive()).toMatchObject({ status: 200, data: 'quick' })
    expect(run.passes.flatMap(({ logs }) => messages(logs))).toEqual([])
  })
})

describe('a result that JSON does not keep', () => {
  const lossy = (logs: RunnerLogLine[]) => logs.filter(({ scope }) => scope.startsWith('@result'))

  test('is logged once for each name of a step, and for the result of the workflow', async () => {
    const run = runOf(async ({ step }) => {
      for (let i = 0; i < 2; i++) await step.run('load', () => ({ rows: new Map([[i, i]]) }))
      await step.run('plain', () => ({ rows: [1] }))
      return { at: Number.NaN }
    })
    const { logs } = await run.drive()
    const messages = run.passes
      .flatMap(pass => lossy(pass.logs))
      .map(({ scope, index, message }) => [scope, index, message])
    const message =
      'The result of step "load" has a Map at "rows", stored as {} (Object.fromEntries(map) can be stored). The handler gets what is stored.'
    // The engine stores each position once.
    expect(messages).toEqual([
      ['@result load', 0, message],
      ['@result load', 0, message],
    ])
    expect(warnings(logs)).toMatchObject([
      { level: 'warn', index: 2, message: 'The result of the workflow has NaN at "at", stored as null.' },
    ])
  })
})

test('an error of the handler names the step that it awaited last', async () => {
  const run = runOf(async ({ step }) => {
    const order = await step.run('load', () => undefined as unknown as { total: number })
    return order.total
  })
  expect(await run.drive()).toMatchObject({
    status: 500,
    error: {
      message: expect.stringMatching(
        /^Cannot read properties of undefined \(reading 'total'\) \(in the handler, after step "load", \S+warnings\.test\.ts:\d+:\d+\)$/,
      ),
    },
  })
})
