// The testing kit under `node:test`, as its users write tests. `testing.test.ts` runs it in a separate process.

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'
import { type TestEngine, testEngine } from '@perdure/sdk/testing'

const checkout = createWorkflow({ name: 'checkout' }, async ({ event, step }: WorkflowArgs<{ order: number }>) => {
  await step.run('charge', () => 'charged')
  await step.sleep('cool-down', '30d')
  return step.run('ship', () => `shipped ${event.data.order}`)
})

describe('checkout', () => {
  let engine: TestEngine
  beforeEach(async () => {
    engine = await testEngine([checkout])
  })
  afterEach(() => engine.stop())

  test('ships after a month', async () => {
    const run = await engine.start(checkout, { order: 7 })
    await run.parkedAt('cool-down')
    await engine.advance('30d')
    assert.equal(await run.result(), 'shipped 7')
  })

  test('is charged again when the card was declined', async () => {
    const charge = mock.fn(() => 'charged')
    charge.mock.mockImplementationOnce(() => {
      throw new Error('declined')
    })
    engine.mock('charge', charge)
    const run = await engine.start(checkout, { order: 7 })
    await run.result({ within: '60d' })
    assert.equal(charge.mock.callCount(), 2)
  })

  test('is not forgotten by a test that ends early', async () => {
    const run = await engine.start(checkout, { order: 7 })
    await assert.rejects(engine.stop(), /1 run has not ended/)
    await assert.rejects(run.result(), /The engine was stopped/)
  })
})
