import { testEngine } from 'perdure/testing'
import { expect, test } from 'vitest'
import { subscription } from './subscription.ts'

const monthly = { customerId: 'c-1', plan: 'basic' } as const

test('a customer changes the plan, and pays the new price from the next month on', async () => {
  await using engine = await testEngine({ workflows: [subscription], startAt: '2030-01-31T09:00:00Z' })
  const run = await engine.start(subscription, monthly)
  await engine.advance('10d')

  const answer = await run.update('change-plan', { plan: 'team' })
  await engine.advanceTo('2030-02-28T09:01:00Z') // the last day of the shorter month

  expect(answer).toEqual({ plan: 'team', fromMonth: 2, price: 50 })
  expect((await run.step('charge month 1'))?.data).toMatchObject({ amount: 10 })
  expect((await run.step('charge month 2'))?.data).toMatchObject({ amount: 50 })
  expect((await run.read()).attributes).toEqual({ plan: 'team', month: 2 })
  await run.cancel()
})

test.each([
  [{ plan: 'gold' }, 'there is no plan "gold"'],
  [undefined, 'there is no plan null'],
])('the update %o is refused, and the plan stays', async (change, message) => {
  await using engine = await testEngine([subscription])
  const run = await engine.start(subscription, monthly)

  await expect(run.update('change-plan', change)).rejects.toThrow(message)
  await engine.advance('31d')

  expect((await run.step('charge month 2'))?.data).toMatchObject({ amount: 10 })
  await run.cancel()
})

test('a cancelled subscription ends with the month that is paid, after a year and a half', async () => {
  await using engine = await testEngine([subscription])
  const run = await engine.start(subscription, monthly)
  await engine.advanceTo('2031-06-15')
  await run.signal('cancel')

  expect(await run.result({ within: '31d' })).toEqual({ status: 'cancelled', months: 18 })
  expect(engine.now().toISOString()).toMatch(/^2031-07-01T00:00/)
  expect(run.executions('charge month 18')).toBe(1)
  expect(run.executions('charge month 19')).toBe(0)
})

test('a crash in the middle of a month charges nobody twice', async () => {
  await using engine = await testEngine([subscription])
  const run = await engine.start(subscription, monthly)
  await engine.advance('10d')
  engine.crash()
  await engine.advance('30d') // the end of the month passes while the engine is down
  await engine.restart()

  expect(run.executions('charge month 1')).toBe(1)
  expect(run.executions('charge month 2')).toBe(1)
  await run.cancel()
})
