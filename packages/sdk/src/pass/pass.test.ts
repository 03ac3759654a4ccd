// Replay: which steps a pass discovers, in which order stored results settle calls, and when a pass ends.

import { readFile } from 'node:fs/promises'
import { hashStepId } from '@perdure/protocol'
import { describe, expect, test } from 'vitest'
import { runOf, signal } from '../replay/engine.testkit.ts'
import type { StepTools } from '../workflow/workflow.ts'

describe('one step after another', () => {
  test('each pass discovers the next step, and stored steps do not run again', async () => {
    const calls: string[] = []
    const run = runOf(async ({ step }) => {
      const a = await step.run('a', () => calls.push('a'))
      const b = await step.run('b', async () => calls.push(`b after ${a}`))
      return { a, b }
    })
    expect(await run.drive()).toMatchObject({ status: 200, data: { a: 1, b: 2 } })
    expect(run.discovered).toEqual([['a'], ['b'], []])
    expect(calls).toEqual(['a', 'b after 1'])
  })

  test('a loop that repeats a name gets positional ids', async () => {
    const run = runOf(async ({ step }) => {
      const sums: number[] = []
      for (let i = 0; i < 3; i++) sums.push(await step.run('add', () => i * 10))
      return sums
    })
    expect(await run.drive()).toMatchObject({ status: 200, data: [0, 10, 20] })
    expect(Object.keys(run.memo)).toEqual(['add', 'add:1', 'add:2'].map(hashStepId))
    expect(run.discovered).toEqual([['add'], ['add'], ['add'], []])
  })

  test('a name that looks like a position never shares its id', async () => {
    const run = runOf(async ({ step }) => [
      await step.run('a:1', () => 'literal'),
      await step.run('a', () => 'first'),
      await step.run('a', () => 'second'),
    ])
    expect(await run.drive()).toMatchObject({ data: ['literal', 'first', 'second'] })
    expect(Object.keys(run.memo)).toEqual(['a:1', 'a', 'a:2'].map(hashStepId))
  })

  test('a step without a result is replayed as undefined', async () => {
    const run = runOf(async ({ step }) => {
      const nothing = await step.run('a', () => undefined)
      return { isUndefined: nothing === undefined }
    })
    expect(await run.drive()).toMatchObject({ data: { isUndefined: true } })
    expect(run.passes[0]?.opcodes[0]).not.toHaveProperty('data')
  })

  test('a handler without steps answers 200 in its first pass, also with no result', async () => {
    expect(await runOf(async () => 'done').pass()).toMatchObject({ status: 200, data: 'done', logs: [] })
    expect(await runOf(() => undefined).pass()).toEqual({ status: 200, opcodes: [], logs: [] })
  })
})

describe('parallel steps', () => {
  test('run at the same time in one pass and are reported together', async () => {
    const [aStarted, bStarted] = [signal(), signal()]
    // Each callback waits for the other to have started: run one after the other they would hang.
    const run = runOf(async ({ step }) =>
      Promise.all([
        step.run('a', async () => {
          aStarted.resolve()
          await bStarted.promise
          return 'A'
        }),
        step.run('b', async () => {
          bStarted.resolve()
          await aStarted.promise
          return 'B'
        }),
        step.sleep('pause', '1s'),
      ]),
    )
    expect(await run.drive()).toMatchObject({ status: 200, data: ['A', 'B', null] })
    expect(run.discovered).toEqual([['pause', 'a', 'b'], []])
  })

  test('race: the step that settled first wins on every later pass', async () => {
    const winners: string[] = []
    const run = runOf(
      async ({ step }) => {
        const winner = await Promise.race([
          step.waitForEvent('slow', { event: 'slow' }).then(() => 'slow'),
          // More microtasks between result and race must not change the order.
          (async () => {
            await step.waitForEvent('fast', { event: 'fast' })
            await null
            await null
            return 'fast'
          })(),
        ])
        winners.push(winner)
        return step.waitForEvent('hold', { event: 'hold' })
      },
      { settle: () => undefined },
    )
    await run.drive()
    run.settle('fast', { data: { id: 'evt_f' } })
    await run.drive()
    run.settle('slow', { data: { id: 'evt_s' } })
    run.settle('hold', { data: { id: 'evt_h' } })
    expect(await run.drive()).toMatchObject({ status: 200, data: { id: 'evt_h' } })
    expect(winners).toEqual(['fast', 'fast'])
  })

  test('branches that share step names keep their own steps, whichever is first', async () => {
    const ran: string[] = []
    const branch = async (step: StepTools, label: string) => {
      await step.waitForEvent('wait', { event: label })
      return step.run('work', () => {
        ran.push(label)
        return label
      })
    }
    const run = runOf(({ step }) => Promise.all([branch(step, 'one'), branch(step, 'two')]), {
      settle: () => undefined,
    })
    await run.drive()
    run.settle('wait:1', { data: { id: 'evt_2' } })
    await run.drive()
    run.settle('wait', { data: { id: 'evt_1' } })
    expect(await run.drive()).toMatchObject({ status: 200, data: ['one', 'two'] })
    expect(ran).toEqual(['two', 'one'])
  })

  test('a step discovered while a sibling is running is in the same pass', async () => {
    const gate = signal()
    const run = runOf(({ step }) =>
      Promise.all([
        step.run('slow', () => gate.promise.then(() => 'slow')),
        (async () => {
          await readFile(import.meta.filename)
          const late = step.run('late', () => 'late')
          gate.resolve()
          return late
        })(),
      ]),
    )
    expect((await run.pass()).opcodes.map(({ name }) => name)).toEqual(['late', 'slow'])
  })

  test('a race has the winner of its callbacks, whichever was called first', async () => {
    const fast = signal()
    const run = runOf(({ step }) =>
      Promise.race([
        step.run('slow', () => fast.promise.then(() => 'slow')),
        step.run('fast', () => {
          fast.resolve()
          return 'fast'
        }),
      ]),
    )
    expect(await run.drive()).toMatchObject({ status: 200, data: 'fast' })
    expect(run.discovered).toEqual([['fast', 'slow'], []])
  })

  test('a step discovered many microtasks after a sibling has finished is in the same pass', async () => {
    const run = runOf(({ step }) =>
      Promise.all([
        step.run('quick', () => 1),
        (async () => {
          for (let i = 0; i < 1000; i++) await null
          return step.run('late', () => 2)
        })(),
      ]),
    )
    expect(await run.drive()).toMatchObject({ status: 200, data: [1, 2] })
    expect(run.discovered).toEqual([['quick', 'late'], []])
  })

  test('a pass does not end in a turn of the event loop with a further step', async () => {
    const turn = () => new Promise(resolve => setImmediate(resolve))
    const run = runOf(({ step }) =>
      Promise.all([
        (async () => {
          await turn()
          void step.sleep('second', 1)
          await turn()
          void step.sleep('third', 1)
        })(),
        step.sleep('first', 1),
      ]),
    )
    expect((await run.pass()).opcodes.map(({ name }) => name)).toEqual(['first', 'second', 'third'])
  })

  test('a thousand parallel steps settle in order', async () => {
    const names = Array.from({ length: 1000 }, (_, i) => `n${i}`)
    const order: string[] = []
    const run = runOf(async ({ step }) => {
      order.length = 0
      await Promise.all(names.map(name => step.run(name, () => name).then(done => order.push(done))))
    })
    await run.pass()
    const shuffled = names.map((name, i) => names[(i * 7) % 1000] ?? name)
    run.memo = Object.fromEntries(shuffled.map(name => [hashStepId(name), { data: name }]))
    expect((await run.pass()).status).toBe(200)
    expect(order).toEqual(shuffled)
  })
})

describe('pending steps', () => {
  test('are neither run nor reported again, and the pass answers 206', async () => {
    let ran = 0
    const run = runOf(async ({ step }) => {
      await Promise.all([step.run('a', () => ++ran), step.sleep('b', '1h')])
    })
    run.settle('a', { pending: true })
    run.settle('b', { pending: true })
    expect(await run.pass()).toEqual({ status: 206, opcodes: [], logs: [] })
    expect(ran).toBe(0)
  })

  test('do not block parallel branches', async () => {
    const run = runOf(({ step }) =>
      Promise.race([step.sleep('long', '1h'), step.run('a', () => 1).then(() => step.run('b', () => 2))]),
    )
    run.settle('long', { pending: true })
    expect(await run.drive()).toMatchObject({ status: 200, data: 2 })
    expect(run.discovered).toEqual([['a'], ['b'], []])
  })
})

describe("the handler's own waiting", () => {
  test('is waited for while every step is stored', async () => {
    const run = runOf(async ({ step }) => {
      const before = await readFile(import.meta.filename, 'utf8')
      const a = await step.run('a', () => before.length)
      const after = await readFile(import.meta.filename, 'utf8')
      return a === after.length
    })
    expect(await run.drive()).toMatchObject({ status: 200, data: true })
  })

  test('is cut off beside an outstanding step, and steps it calls afterwards are not run', async () => {
    const gate = signal()
    const resumed = signal()
    let ran = false
    const run = runOf(({ step }) =>
      Promise.all([
        step.sleep('outstanding', '1h'),
        (async () => {
          await gate.promise
          void step.run('b', () => {
            ran = true
          })
          resumed.resolve()
        })(),
      ]),
    )
    expect((await run.pass()).opcodes.map(({ name }) => name)).toEqual(['outstanding'])
    gate.resolve()
    await resumed.promise
    expect(ran).toBe(false)
  })
})
