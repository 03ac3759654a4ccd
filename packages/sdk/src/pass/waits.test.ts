// Tests of how a pass reports the events that its handler was given, with each new wait (docs/events.md#waits).

import { describe, expect, test } from 'vitest'
import { runOf } from '../replay/engine.testkit.ts'
import type { StepTools } from '../workflow/workflow.ts'

const ctx = { features: ['wait-order', 'memo-op'] }
const go = (id: string, name = 'go') => ({
  data: { id, name, receivedAt: '2030-01-01T00:00:00.000Z' },
  op: 'WaitForEvent',
})
const waitFor = (step: StepTools, name: string) => step.waitForEvent(name, { event: 'go' })

/** The `given` of the wait `last`. The waits `one` and `two` have events, `work` has a result. */
async function given(handler: (step: StepTools) => Promise<unknown>) {
  const run = runOf(
    async ({ step }) => {
      await handler(step)
      await waitFor(step, 'last')
    },
    { ctx },
  )
  run.settle('work', { data: null })
  run.settle('one', go('evt_1'))
  run.settle('two', go('evt_2'))
  run.settle('more', { data: null })
  const { opcodes } = await run.pass()
  return (opcodes as { given?: object }[])[0]?.given
}

const work = (step: StepTools) => step.run('work', () => 1)
const more = (step: StepTools) => step.run('more', () => 1)
const ALL = { settled: 4, except: ['evt_2'] }
const NONE = { settled: 4, except: ['evt_1', 'evt_2'] }

/** Each handler has the result of `work` before the event of `one`, and then that of `more`. */
const cases: [string, (step: StepTools) => Promise<unknown>, object][] = [
  ['an await', step => waitFor(step, 'one'), ALL],
  ['Promise.all', step => Promise.all([waitFor(step, 'one'), more(step)]), ALL],
  ['Promise.allSettled', step => Promise.allSettled([waitFor(step, 'one'), more(step)]), ALL],
  ['a race that it wins', step => Promise.race([waitFor(step, 'one'), more(step)]), ALL],
  [
    'a race against a function that it wins',
    step => Promise.race([waitFor(step, 'one'), (async () => more(step))()]),
    ALL,
  ],
  [
    'a callback',
    async step => {
      waitFor(step, 'one').then(() => undefined)
      await more(step)
    },
    ALL,
  ],
  [
    'a lost race',
    async step => {
      await Promise.race([waitFor(step, 'one'), work(step)])
      await more(step)
    },
    NONE,
  ],
  [
    'a lost race of Promise.any',
    async step => {
      await Promise.any([waitFor(step, 'one'), work(step)])
      await more(step)
    },
    NONE,
  ],
  [
    'a lost race of its then, catch and finally',
    async step => {
      const wait = waitFor(step, 'one')
        .then(() => 1)
        .catch(() => 2)
        .finally(() => undefined)
      await Promise.race([wait, work(step)])
      await more(step)
    },
    NONE,
  ],
  [
    'a lost race against a function',
    async step => {
      await Promise.race([waitFor(step, 'one'), (async () => work(step))()])
      await more(step)
    },
    NONE,
  ],
  [
    'a race inside of a lost race',
    async step => {
      await Promise.race([Promise.race([waitFor(step, 'one'), work(step)]), new Promise(() => {})])
      await more(step)
    },
    NONE,
  ],
  [
    'a lost race, and an await after it',
    async step => {
      const wait = waitFor(step, 'one')
      await Promise.race([wait, work(step)])
      await more(step)
      await wait
    },
    ALL,
  ],
  [
    'a lost race, and another that it wins',
    async step => {
      const wait = waitFor(step, 'one')
      await Promise.race([wait, work(step)])
      await Promise.race([wait, more(step)])
    },
    ALL,
  ],
  [
    'a lost race, and an await beside it',
    async step => {
      const wait = waitFor(step, 'one')
      await Promise.all([Promise.race([wait, work(step)]), wait])
    },
    ALL,
  ],
  [
    'nobody',
    async step => {
      waitFor(step, 'one')
      await more(step)
    },
    NONE,
  ],
]

test.each(cases)('an event that came to %s', async (_, handler, expected) => {
  expect(await given(handler)).toEqual(expected)
})

test('a wait of the same event that was given counts for all of them', async () => {
  const run = runOf(
    async ({ step }) => {
      await Promise.race([waitFor(step, 'lost'), work(step)])
      await waitFor(step, 'got')
      await Promise.all([waitFor(step, 'last'), step.waitForEvent('other', { event: 'other' })])
    },
    { ctx },
  )
  run.settle('work', { data: null })
  run.settle('lost', go('evt_1'))
  run.settle('got', go('evt_1'))
  run.settle('stray', go('evt_9', 'other'))
  const { opcodes } = await run.pass()
  expect(opcodes).toMatchObject([{ given: { settled: 4 } }, { given: { settled: 4, except: ['evt_9'] } }])
  expect((opcodes[0] as { given: object }).given).not.toHaveProperty('except')
})

describe('an engine without the feature', () => {
  test('is told nothing', async () => {
    const { opcodes } = await runOf(({ step }) => waitFor(step, 'one')).pass()
    expect(opcodes[0]).not.toHaveProperty('given')
  })

  test('has no wait since now', async () => {
    const run = runOf(({ step }) => step.waitForEvent('one', { event: 'go', since: 'now' }))
    expect(await run.pass()).toMatchObject({ status: 400, error: { message: expect.stringContaining('(wait-order)') } })
  })
})

describe('a match', () => {
  const matching = (match: unknown) =>
    runOf(({ step }) => step.waitForEvent('one', { event: 'go', match: match as string }), { ctx }).pass()

  test.each(['data.id', ['data.id', 'data.line'], { 'data.id': 7 }])('of a wait is sent as it is: %j', async match => {
    expect((await matching(match)).opcodes[0]).toMatchObject({ op: 'WaitForEvent', match })
  })

  test.each([[[]], [{}], ['event.data.id'], [{ 'data.id': [1] }]])('that is bad ends the run: %j', async match => {
    expect(await matching(match)).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('Step "one": match must') },
    })
  })

  test('is refused for an engine that does not know it: it would wait for any event', async () => {
    const run = runOf(({ step }) => step.waitForEvent('one', { event: 'go', match: 'data.id' }))
    const message = expect.stringContaining('does not support match (wait-order)')
    expect(await run.pass()).toMatchObject({ status: 400, error: { message } })
  })
})

test('a wait since now says so', async () => {
  const { opcodes } = await runOf(({ step }) => step.waitForEvent('one', { event: 'go', since: 'now' }), { ctx }).pass()
  expect(opcodes[0]).toMatchObject({ since: 'now' })
})

describe('an event that had no effect', () => {
  const lines = async (race: (step: StepTools) => Promise<unknown>) => {
    const run = runOf(
      async ({ step }) => {
        await race(step)
        await more(step)
        await waitFor(step, 'last')
      },
      { ctx },
    )
    run.settle('work', { data: null })
    run.settle('one', go('evt_1'))
    run.settle('more', { data: null })
    return (await run.pass()).logs.map(({ message }) => message)
  }
  const message = expect.stringContaining('The event of the wait "one" arrived but had no effect')

  test.each<[string, (step: StepTools) => Promise<unknown>]>([
    ['awaits the wait', async step => await waitFor(step, 'one')],
    ['returns the wait', async step => waitFor(step, 'one')],
  ])('is named where an async function %s and has lost a race', async (_, around) => {
    expect(await lines(step => Promise.race([around(step), work(step)]))).toEqual([message])
  })

  test('is not where the wait itself was in the race, or was awaited', async () => {
    expect(await lines(step => Promise.race([waitFor(step, 'one'), work(step)]))).toEqual([])
    const inOrder = async (step: StepTools) => {
      await work(step)
      await waitFor(step, 'one')
    }
    expect(await lines(inOrder)).toEqual([])
  })
})
