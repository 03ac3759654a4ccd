import { type TestRun, testEngine } from 'perdure/testing'
import { expect, test } from 'vitest'
import { order } from './order.ts'

const placed = {
  orderId: 'O-1',
  items: [
    { sku: 'tent', count: 1 },
    { sku: 'peg', count: 8 },
  ],
  cents: 24_000,
}

const namesOf = async (run: TestRun) => (await run.steps()).map(({ name }) => name)

test('an order that goes well undoes nothing', async () => {
  await using engine = await testEngine([order])
  const run = await engine.start(order, placed)

  expect(await run.result()).toMatchObject({ status: 'shipped', parcel: 'parcel-O-1' })
  expect(await run.cleanup()).toBeUndefined()
})

test('a declined card is tried once, and the stock goes back, the last first', async () => {
  await using engine = await testEngine([order])
  const run = await engine.start(order, { ...placed, cents: 900_000 })

  expect(await run.failure()).toMatchObject({ stepName: 'pay', message: 'the card was declined' })
  expect(run.executions('pay')).toBe(1)
  const cleanup = (await run.cleanup()) as TestRun
  expect(await namesOf(cleanup)).toEqual(['rollback:reserve peg', 'rollback:reserve tent'])
  expect((await cleanup.step('rollback:reserve tent'))?.data).toEqual({ released: 'shelf-tent' })
})

test('a carrier that stays down is tried three times; then the money goes back before the stock', async () => {
  await using engine = await testEngine([order])
  const ship = engine.mock('ship', () => {
    throw new Error('the carrier is down')
  })
  const run = await engine.start(order, placed)

  await run.failure({ within: '1m' })
  expect(ship.calls).toHaveLength(3)
  const cleanup = (await run.cleanup()) as TestRun
  expect(await namesOf(cleanup)).toEqual(['rollback:pay', 'rollback:reserve peg', 'rollback:reserve tent'])
  const told = await run.onFailure()
  expect((await told?.step('tell the customer'))?.data).toMatchObject({ text: 'the carrier is down' })
})

test('a refund that fails is tried again, and keeps nothing from being undone', async () => {
  await using engine = await testEngine([order])
  engine.mock('ship', () => Promise.reject(new Error('the carrier is down')))
  engine.mock('rollback:pay', ({ execution, original }) => {
    if (execution === 1) throw new Error('the bank is busy')
    return original()
  })
  const run = await engine.start(order, placed)
  await run.failure({ within: '1m' })
  const cleanup = (await run.cleanup()) as TestRun

  await cleanup.result({ within: '1m' })
  expect(cleanup.executions('rollback:pay')).toBe(2)
  expect(cleanup.executions('rollback:reserve tent')).toBe(1)
})
