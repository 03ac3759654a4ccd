// Steps that run together: `step.map`, `step.race`, and branches that continue while another callback runs. Exact replay is
// the subject of replay/exactness/exactness.test.ts.

import { describe, expect, expectTypeOf, test } from 'vitest'
import { runOf as inMemory } from '../replay/engine.testkit.ts'
import { deferred } from '../run/deferred.ts'
import type { TestEngine, TestRun } from '../testing/index.ts'
import { open } from '../testing/open.testkit.ts'
import { StepFailedError } from '../wire/errors.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs, WorkflowHandler } from '../workflow/workflow.ts'

/** The engine of the test. */
let engine: TestEngine

async function runOf(handler: WorkflowHandler<unknown, unknown>, { checkpoints = true } = {}): Promise<TestRun> {
  const flow = createWorkflow({ name: 'flow', retry: { maxAttempts: 1 } }, handler)
  engine = await open({ workflows: [flow], checkpoints })
  return engine.start(flow)
}

/** Resolves when the signal aborts, with its reason. */
function aborted(signal: AbortSignal): Promise<Error> {
  return new Promise(resolve => signal.addEventListener('abort', () => resolve(signal.reason as Error)))
}

const MODES = [{ checkpoints: true }, { checkpoints: false }]

describe.each(MODES)('step.map, $checkpoints', mode => {
  test('runs at most so many items at once, and keeps their order', async () => {
    let [running, most] = [0, 0]
    const run = await runOf(async ({ step }) => {
      const items = [30, 1, 20, 2, 10]
      return step.map(
        'item',
        items,
        async (ms, index) => {
          most = Math.max(most, ++running)
          await new Promise(resolve => setTimeout(resolve, ms))
          running--
          return `${index}: ${ms}`
        },
        { concurrency: 2 },
      )
    }, mode)
    expect(await run.result()).toEqual(['0: 30', '1: 1', '2: 20', '3: 2', '4: 10'])
    expect(most).toBe(2)
    expect((await run.steps()).map(({ name }) => name).sort()).toEqual([
      'item:0',
      'item:1',
      'item:2',
      'item:3',
      'item:4',
    ])
  })

  test('goes on where it was after a crash', async () => {
    const executions = new Map<number, number>()
    const run = await runOf(async ({ step }) => {
      const items = Array.from({ length: 200 }, (_, index) => index)
      const done = await step.map(
        'item',
        items,
        item => {
          executions.set(item, (executions.get(item) ?? 0) + 1)
          if (item === 120 && executions.get(item) === 1) engine.crash()
          return item
        },
        { concurrency: 20 },
      )
      return done.length
    }, mode)
    await engine.restart()
    expect(await run.result()).toBe(200)
    expect(executions.size).toBe(200)
    const repeated = [...executions].filter(([, count]) => count > 1).length
    expect(repeated).toBeGreaterThan(0)
    expect(repeated).toBeLessThanOrEqual(40)
  })
})

test('a map with settle tries all items, and one of no items ends at once', async () => {
  const { data } = await inMemory(async ({ step }) => {
    const all = await step.map('item', [1, 2, 3], item => (item === 2 ? Promise.reject(new Error('two')) : item), {
      settle: true,
    })
    expectTypeOf(all).toEqualTypeOf<PromiseSettledResult<number>[]>()
    const none = await step.map('none', [], () => 1)
    return [...all.map(one => (one.status === 'fulfilled' ? one.value : (one.reason as Error).message)), none]
  }).drive()
  expect(data).toEqual([1, 'two', 3, []])
})

test('the first item that fails ends a map: others are aborted, and none begins, also on a replay', async () => {
  const begun: number[] = []
  const reason = deferred<Error>()
  const run = await runOf(async ({ step }) => {
    const failed = await step
      .map(
        'item',
        [0, 1, 2, 3],
        async (item, _, { signal }) => {
          begun.push(item)
          if (item === 1) throw new Error('one')
          reason.resolve(await aborted(signal))
        },
        { concurrency: 2 },
      )
      .catch((error: unknown) => error as StepFailedError)
    expect(failed).toBeInstanceOf(StepFailedError)
    await step.sleep('rest', '1h')
    return step.run('after', () => (failed as Error).message)
  })
  expect((await reason.promise).message).toBe('Another item of "item" has failed')
  await run.parkedAt('rest')
  await engine.crash()
  await engine.restart()
  await engine.advance('1h')
  expect(await run.result()).toBe('one')
  expect(begun).toEqual([0, 1])
  expect((await run.steps()).map(({ name, status }) => [name, status])).toEqual([
    ['item:1', 'failed'],
    ['rest', 'succeeded'],
    ['after', 'succeeded'],
  ])
})

test.each([
  ['items', 5, undefined, 'Step "item": map: the items must be an array, not 5'],
  ['a bound', [], { concurrency: 0 }, 'Step "item": map: concurrency must be an integer of at least 1, not 0'],
  ['settle', [], { settle: 'yes' }, 'Step "item": map: settle must be true or false, not a string'],
  ['an option', [], { limits: 2 }, 'limits'],
])('a map refuses a wrong value of %s', async (_, items, options, message) => {
  const { error } = await inMemory(({ step }) => step.map('item', items as number[], () => 1, options as object)).pass()
  expect(error?.message).toContain(message)
})

describe('step.race', () => {
  test('aborts the losers, and never begins them again', async () => {
    let begun = 0
    const reason = deferred<Error>()
    const run = await runOf(async ({ step }) => {
      const first = await step.race({
        fast: () => step.run('fast', () => 'fast'),
        slow: async () => {
          const slow = await step.run('slow', async ({ signal }) => {
            begun++
            reason.resolve(await aborted(signal))
            return 1
          })
          await step.run('never', () => 'never')
          return slow
        },
      })
      expectTypeOf(first).toEqualTypeOf<
        { readonly winner: 'fast'; readonly value: string } | { readonly winner: 'slow'; readonly value: number }
      >()
      await step.sleep('rest', '1h')
      return first
    })
    expect((await reason.promise).message).toBe('Branch "fast" of the race was faster than "slow"')
    await run.parkedAt('rest')
    await engine.crash()
    await engine.restart()
    await engine.advance('1h')
    expect(await run.result()).toEqual({ winner: 'fast', value: 'fast' })
    expect(begun).toBe(1)
    expect((await run.steps()).map(({ name }) => name)).toEqual(['fast', 'rest'])
  })

  test('an event that comes to a loser is there for the next wait', async () => {
    const run = await runOf(async ({ step }) => {
      const first = await step.race({
        cancel: async () => {
          await step.waitForEvent('cancel', { event: 'cancel' })
          return 'cancelled'
        },
        nap: () => step.sleep('nap', '1h'),
      })
      const event = await step.waitForEvent<string>('cancel', { event: 'cancel', timeout: '1d' })
      return [first.winner, event?.data]
    })
    await run.parkedAt('nap')
    await engine.advance('1h')
    await engine.send('cancel', 'now')
    expect(await run.result()).toEqual(['nap', 'now'])
  })

  test.each(MODES)(
    'a sleep that was called before and has lost may win later, and be awaited, $checkpoints',
    async mode => {
      const run = await runOf(async ({ step }) => {
        const month = step.sleep('month', '30d')
        const winners: string[] = []
        while (winners.at(-1) !== 'over') {
          const change = () => step.waitForEvent('change', { event: 'change' })
          winners.push((await step.race({ over: month, change })).winner)
          await step.run('note', () => 'noted')
        }
        await month
        return winners
      }, mode)
      await engine.send('change')
      await engine.send('change')
      await engine.advance('30d')
      expect(await run.result()).toEqual(['change', 'change', 'over'])
    },
  )

  test.each(MODES)('a wait that was called before and has lost takes no event away, $checkpoints', async mode => {
    const run = await runOf(async ({ step }) => {
      const early = step.waitForEvent<number>('early', { event: 'paid' })
      await step.race({ early, nap: () => step.sleep('nap', '1h') })
      const late = await step.waitForEvent<number>('late', { event: 'paid' })
      const next = await step.waitForEvent<number>('next', { event: 'paid' })
      return [late?.data, (await early)?.data, next?.data]
    }, mode)
    await engine.advance('1h')
    await engine.send('paid', 1)
    await engine.send('paid', 2)
    expect(await run.result()).toEqual([1, 1, 2])
    expect(await run.logs()).toEqual([])
  })

  test('takes promises of steps, and rejects like the first', async () => {
    const handler = ({ step }: WorkflowArgs) =>
      step.race({ bad: step.run('bad', () => Promise.reject(new Error('bad'))), nap: step.sleep('nap', '1h') })
    const { error } = await inMemory(handler, { maxAttempts: 1, settle: () => undefined }).drive()
    expect(error).toMatchObject({ message: 'bad', stepName: 'bad' })
  })

  test.each([
    ['nothing', {}, 'step.race: it takes an object of at least one branch'],
    ['a list', [() => 1], 'step.race: it takes an object of at least one branch'],
    ['a value', { a: 1 }, 'step.race: "a" must be a function that calls steps'],
  ])('refuses %s', async (_, branches, message) => {
    const { error } = await inMemory(({ step }) => step.race(branches as never)).pass()
    expect(error?.message).toContain(message)
  })

  test('is no step of a callback', async () => {
    const nested = inMemory(({ step }) => step.run('outer', () => step.race({ a: () => step.run('a', () => 1) })))
    expect(await nested.pass()).toMatchObject({
      opcodes: [{ error: { message: expect.stringContaining('steps cannot be nested') } }],
    })
  })
})

test('with checkpoints a branch goes on beside a long callback, without them it waits for it', async () => {
  for (const { checkpoints } of MODES) {
    const next = deferred<void>()
    const run = await runOf(
      async ({ step }) => {
        const short = async () => {
          await step.run('short', () => 1)
          await step.run('next', () => next.resolve())
        }
        // With checkpoints it ends only after the other branch has continued.
        const long = step.run('long', () => (checkpoints ? next.promise : undefined))
        await Promise.all([long, short()])
        return 'done'
      },
      { checkpoints },
    )
    expect(await run.result()).toBe('done')
    const names = (await run.steps()).map(({ name }) => name)
    expect(names.slice(checkpoints ? 0 : 2)).toContain('next')
  }
})
