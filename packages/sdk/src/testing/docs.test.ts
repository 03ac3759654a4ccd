// The examples of docs/testing.md, letter for letter; test/scenario/docs/snippets.test.ts compares them.

import { createWorkflow, NonRetriableError, StepFailedError, type WorkflowArgs } from '@perdure/sdk'
import { testEngine } from 'perdure/testing'
import { expect, test, vi } from 'vitest'

interface Order {
  id: number
}

const payments = {
  async charge(order: Order) {
    return { chargeId: `ch_${order.id}` }
  },
  async refund(_order: Order) {},
}
const carrier = {
  async book(order: Order) {
    return `parcel-${order.id}`
  },
}

const checkout = createWorkflow(
  { name: 'checkout', triggers: { event: 'order/created' } },
  async ({ event, step, ctx }: WorkflowArgs<Order>) => {
    const order = event.data
    const charge = await step.run('charge', () => payments.charge(order))
    const approval = await step.waitForEvent('approval', { event: 'order/approved', timeout: '7d' })
    if (!approval) {
      await step.run('refund', () => payments.refund(order))
      return { status: 'expired' }
    }
    try {
      const parcel = await step.run('ship', () => carrier.book(order))
      await ctx.webhook.send('tell', { url: 'https://shop.example/shipped', data: { parcel } })
      return { status: 'shipped', parcel, ...charge }
    } catch (error) {
      if (!(error instanceof StepFailedError)) throw error
      await step.run('refund', () => payments.refund(order))
      return { status: 'refunded' }
    }
  },
)

const hotel = {
  async book() {
    return 'room 12'
  },
  async release(_room: string) {},
}
const trip = createWorkflow({ name: 'trip' }, async ({ step }) => {
  await step.run('book', () => hotel.book(), { rollback: room => hotel.release(room) })
  await step.waitForEvent('weather', { event: 'weather/fine' })
})

test('an approved order is shipped', async () => {
  await using engine = await testEngine([checkout])

  const run = await engine.start(checkout, { id: 7 })
  await run.parkedAt('approval')
  await engine.send('order/approved', { id: 7 })

  expect(await run.result()).toMatchObject({ status: 'shipped', parcel: 'parcel-7' })
  expect(run.executions('charge')).toBe(1)
  expect(await engine.deliveries()).toMatchObject([{ body: { parcel: 'parcel-7' } }])
})

test('an order that nobody approves is refunded after a week', async () => {
  await using engine = await testEngine([checkout])

  const run = await engine.start(checkout, { id: 7 })
  await engine.advance('7d')

  expect(await run.result()).toEqual({ status: 'expired' })
  expect(run.executions('refund')).toBe(1)
})

test('a carrier that is down for a moment costs nothing but time', async () => {
  await using engine = await testEngine([checkout])
  engine.mock('ship', ({ execution, original }) => {
    if (execution <= 2) throw new Error('the carrier is down')
    return original()
  })

  const run = await engine.start(checkout, { id: 7 })
  await engine.send('order/approved')
  await run.parkedAt('ship') // it waits for its retry

  expect(await run.result({ within: '1h' })).toMatchObject({ status: 'shipped' })
  expect(run.executions('ship')).toBe(3)
  expect(run.executions('charge')).toBe(1)
})

test('an order that cannot be shipped is refunded', async () => {
  await using engine = await testEngine([checkout])
  const ship = vi.fn().mockRejectedValue(new NonRetriableError('no such address'))
  engine.mock('ship', ship)

  const run = await engine.start(checkout, { id: 7 })
  await engine.send('order/approved')

  expect(await run.result()).toEqual({ status: 'refunded' })
  expect(ship).toHaveBeenCalledTimes(1)
})

test('a crash after the charge does not charge twice', async () => {
  await using engine = await testEngine([checkout])

  const run = await engine.start(checkout, { id: 7 })
  await run.parkedAt('approval')
  engine.crash()
  await engine.advance('1h') // the engine is down for an hour
  await engine.restart()
  await engine.send('order/approved')

  expect(await run.result()).toMatchObject({ status: 'shipped' })
  expect(run.executions('charge')).toBe(1)
})

test('a crash before the result is stored books again, under the same key', async () => {
  await using engine = await testEngine([checkout])
  const ship = engine.mock('ship', ({ execution, original }) => {
    if (execution === 1) engine.crash()
    return original()
  })

  const run = await engine.start(checkout, { id: 7 })
  await engine.send('order/approved')
  await engine.restart()

  expect(await run.result()).toMatchObject({ status: 'shipped' })
  expect(ship.calls).toHaveLength(2)
  expect(new Set(ship.calls.map(({ context }) => context.idempotencyKey)).size).toBe(1)
})

test('an order is paused while it is being charged', async () => {
  await using engine = await testEngine([checkout])
  const charging = engine.hold('charge')

  const run = await engine.start(checkout, { id: 7 })
  await charging.reached
  await run.pause()
  charging.release()

  expect(await run.status()).toBe('paused')
  expect(await run.step('charge')).toMatchObject({ status: 'succeeded' })
  await run.resume()
  await engine.send('order/approved')
  expect(await run.result()).toMatchObject({ status: 'shipped' })
})

const report = createWorkflow({ name: 'report', triggers: { cron: '0 6 * * 1' } }, async ({ step }) =>
  step.run('count', () => 42),
)

test('the report comes every Monday', async () => {
  await using engine = await testEngine({ workflows: [report], startAt: '2030-01-01T00:00:00Z' })

  await engine.advance('28d')

  expect(await engine.runs({ workflow: report, status: 'succeeded' })).toHaveLength(4)
})

test('a shop that does not answer is told again', async () => {
  await using engine = await testEngine({
    workflows: [checkout],
    webhooks: { 'https://shop.example/shipped': [503, 'timeout', 200] },
  })

  const run = await engine.start(checkout, { id: 7 })
  await engine.send('order/approved')
  await run.result()
  await engine.advance('1d')

  expect((await engine.deliveries()).map(({ answer }) => answer)).toEqual([503, 'timeout', 200])
})

test('a trip that is cancelled gives its room back', async () => {
  await using engine = await testEngine([trip])

  const run = await engine.start(trip)
  await run.parkedAt('weather')
  await run.cancel()

  const cleanup = await run.cleanup()
  expect(await cleanup?.status()).toBe('succeeded')
  expect(cleanup?.executions('rollback:book')).toBe(1)
})

const answering = createWorkflow({ name: 'answering' }, ({ step }) =>
  step.run('ask', async ({ stream, attempt }) => {
    const out = stream('answer')
    await out.write(attempt === 1 ? 'Wro' : 'Right')
    await out.flush()
    if (attempt === 1) throw new Error('the model is down')
  }),
)

test('what a failed attempt has written does not count', async () => {
  await using engine = await testEngine([answering])

  const run = await engine.start(answering)
  await run.result({ within: '1m' })

  const { text, chunks, messages, isEnded } = await run.stream('answer')
  expect({ text, chunks, isEnded }).toEqual({ text: 'Right', chunks: ['Right'], isEnded: true })
  expect(messages[1]).toMatchObject({ rollback: 0, step: 'ask', reason: 'failed' })
})
