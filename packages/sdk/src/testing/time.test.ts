// Virtual time: sleeps and retries are due at their exact time, without real waiting. `docs.test.ts` tests timeouts and schedules.

import { expect, onTestFinished, test, vi } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import { TestingError } from './index.ts'
import { open } from './open.testkit.ts'

const DAY_MS = 86_400_000

test('months of sleep take no time, and end to the millisecond; ctx.now() is the virtual time', async () => {
  const sleeper = createWorkflow({ name: 'sleeper' }, async ({ step, ctx }) => {
    const from = await ctx.now()
    await step.sleep('winter', '90d')
    await step.sleepUntil('spring', '2030-06-01')
    return [from, await ctx.now()]
  })
  const engine = await open([sleeper])
  const run = await engine.start(sleeper)
  await engine.advance(90 * DAY_MS - 1)
  await run.parkedAt('winter')
  await engine.advance(1)
  await run.parkedAt('spring')
  await engine.advanceTo('2030-06-01T00:00:00Z')
  const times = await run.result()
  expect(times.map(time => new Date(time).toISOString().slice(0, 19))).toEqual([
    '2030-01-01T00:00:00',
    '2030-06-01T00:00:00',
  ])
  expect(engine.now().toISOString()).toBe('2030-06-01T00:00:00.000Z')
  expect(await run.step('winter')).toMatchObject({ durationMs: 90 * DAY_MS })
})

test('retries back off in virtual time, and end by their time or by the name of the error', async () => {
  const times: number[] = []
  const retry = { maxAttempts: 3, initialMs: 60_000, factor: 10, maxMs: DAY_MS, jitter: 0 }
  const flaky = createWorkflow({ name: 'flaky', retry }, ({ step }) =>
    step.run('try', () => {
      times.push(engine.now().getTime() - startedAt)
      if (times.length < 3) throw new Error('not yet')
      return times.length
    }),
  )
  class CardDeclined extends Error {
    override name = 'CardDeclined'
  }
  const endless = { maxAttempts: 'unlimited', initialMs: 3_600_000, maxMs: 3_600_000, factor: 1, jitter: 0 } as const
  const ending = createWorkflow({ name: 'ending' }, async ({ step }) => {
    const declined = step.run('charge', () => Promise.reject(new CardDeclined('no')), {
      retry: { ...endless, nonRetriable: ['CardDeclined'] },
    })
    await declined.catch(() => {})
    await step.run('down', () => Promise.reject(new Error('down')), { retry: { ...endless, maxElapsed: '1d' } })
  })
  const engine = await open([flaky, ending])
  const startedAt = engine.now().getTime()
  const run = await engine.start(flaky)
  expect(await run.parkedAt('try')).toMatchObject({ status: 'retrying', attempt: 1 })
  await engine.advance('1m')
  expect(await run.parkedAt('try')).toMatchObject({ attempt: 2 })
  await engine.advance('10m')
  expect(await run.result()).toBe(3)
  expect(times).toEqual([0, 60_000, 660_000])
  expect(run.executions('try')).toBe(3)

  const ended = await engine.start(ending)
  await expect(ended.result({ within: '2d' })).rejects.toThrow('down')
  expect([ended.executions('charge'), ended.executions('down')]).toEqual([1, 25])
})

test('a callback counts the attempts of its step, whatever else of the run was repeated', async () => {
  const seen: string[] = []
  const retry = { maxAttempts: 3, initialMs: 1000, factor: 1, jitter: 0 }
  const flaky = createWorkflow({ name: 'flaky', retry }, async ({ step, ctx }) => {
    for (const name of ['first', 'second'])
      await step.run(name, ({ attempt, maxAttempts }) => {
        seen.push(`${name} ${attempt} of ${maxAttempts}, run ${ctx.attempt}`)
        if (attempt < maxAttempts) throw new Error('not yet')
      })
  })
  const engine = await open([flaky])
  const run = await engine.start(flaky)
  await run.result({ within: '1m' })
  expect(seen).toEqual([
    'first 1 of 3, run 1',
    'first 2 of 3, run 2',
    'first 3 of 3, run 3',
    'second 1 of 3, run 3',
    'second 2 of 3, run 4',
    'second 3 of 3, run 5',
  ])
})

test('`within` moves the time as far as needed, and no further', async () => {
  const drip = createWorkflow({ name: 'drip' }, async ({ step }) => {
    for (let day = 0; day < 3; day++) await step.sleep('day', '1d')
    await step.waitForEvent('reply', { event: 'reply' })
  })
  const engine = await open([drip])
  const run = await engine.start(drip)
  await run.parkedAt('day:2', { within: '30d' })
  expect(engine.now().getTime()).toBe(Date.UTC(2030, 0, 3))
  await expect(run.result({ within: '30d' })).rejects.toThrow(/has not ended.*reply/)
  expect(engine.now().getTime()).toBe(Date.UTC(2030, 1, 2))
  await engine.send('reply')
  await run.result({ within: '30d' })
  expect(engine.now().getTime()).toBe(Date.UTC(2030, 1, 2))
})

test('everything that becomes due in between happens in order, each at its own time', async () => {
  const order: string[] = []
  const napper = createWorkflow({ name: 'napper' }, async ({ event, step }: WorkflowArgs<{ ms: number }>) => {
    await step.sleep('nap', event.data.ms)
    await step.run('note', () => void order.push(`${event.data.ms}@${engine.now().getTime() - startedAt}`))
  })
  const engine = await open([napper])
  const startedAt = engine.now().getTime()
  for (const ms of [3000, 1000, 2000, 5000]) await engine.start(napper, { ms })
  await engine.advance(4000)
  expect(order).toEqual(['1000@1001', '2000@2002', '3000@3000'])
})

test('time begins at startAt and runs forward only, and code of a workflow cannot move it', async () => {
  const mover = createWorkflow({ name: 'mover', retry: { maxAttempts: 1 } }, ({ step }) =>
    step.run('move', () => engine.advance('1d')),
  )
  const engine = await open({ workflows: [mover], startAt: '2024-02-29T12:00:00Z' })
  await expect(engine.advanceTo(0)).rejects.toThrow('It is 2024-02-29T12:00:00.000Z: time does not run backwards')
  await expect(engine.advance('soon' as never)).rejects.toThrow(TypeError)
  await expect(engine.advanceTo('soon')).rejects.toThrow(TypeError)
  const run = await engine.start(mover)
  expect(await run.failure()).toMatchObject({ name: TestingError.name, message: /cannot advance the time/ })
})

test('code that reads the date gets the virtual time when the test fakes only Date', async () => {
  const alarm = createWorkflow({ name: 'alarm' }, async ({ step }) => {
    const at = await step.run('choose', () => Date.now() + DAY_MS)
    await step.sleepUntil('night', at)
  })
  const engine = await open([alarm])
  vi.useFakeTimers({ toFake: ['Date'], now: engine.now() })
  onTestFinished(() => void vi.useRealTimers())
  const run = await engine.start(alarm)
  expect(await run.parkedAt('night')).toMatchObject({ wakeAt: '2030-01-02T00:00:00.000Z' })
  await engine.advance('1d')
  await run.result()
})
