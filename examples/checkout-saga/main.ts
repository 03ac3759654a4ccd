// `npm run example -- checkout-saga`: three orders, of which two must be undone.

import assert from 'node:assert/strict'
import { runExample, startRun } from '../shared/example.ts'
import { heading, note, watchRun } from '../shared/show.ts'

const runner = new URL('./runner.ts', import.meta.url)

await runExample({ runner }, async ({ client }) => {
  const order = { orderId: 'A-1', item: 'tent', amount: 240, country: 'AT' }
  const checkOut = async (title: string, data: typeof order) => {
    heading(title)
    const runId = await startRun(client, 'cart/checked-out', data)
    const { status, result } = await watchRun(client, runId)
    note(JSON.stringify(result))
    assert.equal(status, 'succeeded')
    const { items: steps } = await client.listRunSteps({ id: runId })
    return { result, steps: steps.map(({ name, status }) => `${name} ${status}`) }
  }

  const good = await checkOut('All goes well', order)
  assert.deepEqual(good.result, { status: 'shipped', tracking: 'TRK-A-1' })
  assert.deepEqual(good.steps, ['reserve succeeded', 'charge succeeded', 'ship succeeded'])

  const poor = await checkOut('The card is declined: the stock is released', { ...order, amount: 9000 })
  assert.deepEqual(poor.result, { status: 'undone', failedAt: 'charge', reason: 'The card was declined' })
  assert.deepEqual(poor.steps, ['reserve succeeded', 'charge failed', 'release succeeded'])

  const far = await checkOut('Nobody ships there: refunded, then released', { ...order, country: 'AQ' })
  assert.deepEqual(far.steps, [
    'reserve succeeded',
    'charge succeeded',
    'ship failed',
    'refund succeeded',
    'release succeeded',
  ])
})
