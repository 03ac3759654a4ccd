// Virtual time: sleeps, timeouts, backoff, schedules and buffers are due at their exact time, without real waiting.

import { expect, onTestFinished, test, vi } from 'vitest'
import { createWorkflow } from '../workflow/create-workflow.ts'
import type { WorkflowArgs } from '../workflow/workflow.ts'
import { TestingError, type TestRun, testEngine } from './index.ts'
import { open } from './open.testkit.ts'

const DAY_MS = 86_400_000

test('months of sleep take no time, and end to the millisecond', async () => {
  const sleeper = createWorkflow({ name: 'sleeper' }, async ({ step }) => {
    await step.sleep('winter', '90d')
    await step.sleepUntil('spring', '2030-06-01')
  })
  const engine = await open([sleeper])
  const run = await engine.start(sleeper)
  await engine.advance(90 * DAY_MS - 1)
  await run.parkedAt('winter')
  await engine.advance(1)
  await run.parkedAt('spring')
  await engine.advanceTo('2030-06-01T00:00:00Z')
  await run.result()
  expect(engine.now().toISOString()).toBe('2030-06-01T00:00:00.000Z')
  expect(await run.step('winter')).toMatchObject({ durationMs: 90 * DAY_MS })
})

test('a wait times out at its time', async () => {
  const waiter = createWorkflow({ name: 'waiter' }, async ({ step }) =>
    step.waitForEvent('answer', { event: 'answer', timeout: '3d' }),
  )
  const engine = await open([waiter])
  const run = await engine.start(waiter)
  await engine.advance('2d')
  await run.parkedAt('answer')
  await engine.advance('1d')
  expect(await run.result()).toBeNull()
  expect(await run.step('answer')).toMatchObject({ timedOut: true })
})

test('retries back off in virtual time', async () => {
  const times: number[] = []
  const retry = { maxAttempts: 3, initialMs: 60_000, factor: 10, maxMs: DAY_MS, jitter: 0 }
  const flaky = createWorkflow({ name: 'flaky', retry }, ({ step }) =>
    step.run('try', () => {
      times.push(engine.now().getTime() - startedAt)
      if (times.length < 3) throw new Error('not yet')
      return times.length
    }),
  )
  const engine = await open([flaky])
  const startedAt = engine.now().getTime()
  const run = await engine.start(flaky)
  expect(await run.parkedAt('try')).toMatchObject({ status: 'retrying', attempt: 1 })
  await engine.advance('1m')
  expect(await run.parkedAt('try')).toMatchObject({ attempt: 2 })
  await engine.advance('10m')
  expect(await run.result()).toBe(3)
  expect(times).toEqual([0, 60_000, 660_000])
  expect(run.executions('try')).toBe(3)
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

test('tries end by their time, or by the name of the error', async () => {
  class CardDeclined extends Error {
    override name = 'CardDeclined'
  }
  const endless = { maxAttempts: 'unlimited', initialMs: 3_600_000, maxMs: 3_600_000, factor: 1, jitter: 0 } as const
  const flaky = createWorkflow({ name: 'flaky' }, async ({ step }) => {
    const declined = step.run('charge', () => Promise.reject(new CardDeclined('no')), {
      retry: { ...endless, nonRetriable: ['CardDeclined'] },
    })
    await declined.catch(() => {})
    await step.run('down', () => Promise.reject(new Error('down')), { retry: { ...endless, maxElapsed: '1d' } })
  })
  const engine = await open([flaky])
  const run = await engine.start(flaky)
  await expect(run.result({ within: '2d' })).rejects.toThrow('down')
  expect([run.executions('charge'), run.executions('down')]).toEqual([1, 25])
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

test('a schedule runs on each of its days', async () => {
  const nightly = createWorkflow({ name: 'nightly', triggers: { cron: '30 2 * * *' } }, async ({ event }) => event.data)
  const engine = await open([nightly])
  await engine.advance('7d')
  const runs = await engine.runs({ workflow: nightly, status: 'succeeded' })
  expect(runs).toHaveLength(7)
  expect(await runs[0]?.result()).toEqual({ cron: '30 2 * * *', scheduledAt: '2030-01-01T02:30:00.000Z' })
  expect(await runs[6]?.result()).toEqual({
    cron: '30 2 * * *',
    scheduledAt: '2030-01-07T02:30:00.000Z',
    previousAt: '2030-01-06T02:30:00.000Z',
  })
})

test('a debounced workflow starts once, with the last event', async () => {
  const debounce = { period: '10s', key: 'event.data.doc' } as const
  const index = createWorkflow({ name: 'index', debounce }, async ({ event }: WorkflowArgs<unknown>) => event.data)
  const engine = await open([index])
  for (const version of [1, 2, 3]) {
    const { runs, triggered } = await engine.send('index', { doc: 'a', version })
    expect(runs).toEqual([])
    expect(triggered).toMatchObject([{ debounced: true }])
    await engine.advance('9s')
  }
  expect(await engine.runs()).toEqual([])
  await engine.advance('1s')
  const [run] = await engine.runs()
  expect(await run?.result()).toEqual({ doc: 'a', version: 3 })
  await expect(engine.start(index, { doc: 'a' })).rejects.toThrow('started no run of "index": it was debounced')
})

test("a run's timeout counts virtual time", async () => {
  const slow = createWorkflow({ name: 'slow', timeouts: { run: '1h' } }, ({ step }) => step.sleep('nap', '2h'))
  const engine = await open([slow])
  const run = await engine.start(slow)
  expect(await run.failure({ within: '1d' })).toMatchObject({ code: 'timeout' })
  expect(engine.now().getTime()).toBe(Date.UTC(2030, 0, 1, 1))
})

test('runs held by a limit start as soon as there is room', async () => {
  const one = createWorkflow({ name: 'one', throttle: { limit: 1, period: '1m' } }, async () => {})
  const engine = await open([one])
  for (let i = 0; i < 3; i++) await engine.start(one)
  expect(await engine.runs({ status: 'succeeded' })).toHaveLength(1)
  await engine.advance('1m')
  expect(await engine.runs({ status: 'succeeded' })).toHaveLength(2)
  await engine.advance('1m')
  expect(await engine.runs({ status: 'succeeded' })).toHaveLength(3)
})

test('a run keeps its slot over a sleep, and the next one is of the key whose turn it is', async () => {
  const order: string[] = []
  const concurrency = { limit: 1, hold: 'run' } as const
  const fairness = { key: 'event.data.tenant' }
  const options = { name: 'kept', concurrency, fairness }
  const kept = createWorkflow(options, async ({ event, step }: WorkflowArgs<{ tenant: string }>) => {
    await step.run('begin', () => void order.push(event.data.tenant))
    await step.sleep('nap', '1h')
  })
  const engine = await open([kept])
  const runs: TestRun<void>[] = []
  for (const tenant of ['a', 'a', 'a', 'b']) runs.push(await engine.start(kept, { tenant }))
  expect(order).toEqual(['a'])
  expect(await runs[3]?.why()).toContain('concurrency limit')
  await engine.crash()
  await engine.restart()
  await engine.advance('59m')
  expect(order).toEqual(['a'])
  for (const run of runs) await run.result({ within: '4h' })
  expect(order).toEqual(['a', 'a', 'b', 'a'])
})

test('time runs forward only, and code of a workflow cannot move it', async () => {
  const mover = createWorkflow({ name: 'mover', retry: { maxAttempts: 1 } }, ({ step }) =>
    step.run('move', () => engine.advance('1d')),
  )
  const engine = await open([mover])
  await expect(engine.advanceTo(0)).rejects.toThrow('It is 2030-01-01T00:00:00.000Z: time does not run backwards')
  await expect(engine.advance('soon' as never)).rejects.toThrow(TypeError)
  await expect(engine.advanceTo('soon')).rejects.toThrow(TypeError)
  const run = await engine.start(mover)
  expect(await run.failure()).toMatchObject({ name: TestingError.name, message: /cannot advance the time/ })
})

test('time starts at startAt', async () => {
  const engine = await open({ workflows: [], startAt: '2024-02-29T12:00:00Z' })
  expect(engine.now().toISOString()).toBe('2024-02-29T12:00:00.000Z')
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

test('ctx.now() is the virtual time, and the same in every pass', async () => {
  const clock = createWorkflow({ name: 'clock' }, async ({ step, ctx }) => {
    const from = await ctx.now()
    await step.sleep('a day', '1d')
    return { from, to: await ctx.now() }
  })
  for (const checkpoints of [false, true]) {
    await using engine = await testEngine({ workflows: [clock], startAt: 0, checkpoints })
    const run = await engine.start(clock)
    const { from, to } = await run.result({ within: '2d' })
    expect(from).toBeLessThan(1_000)
    expect(Math.abs(to - from - 86_400_000)).toBeLessThan(1_000)
  }
})
