// `npm run example -- checkout-saga`: three orders; two of them must be undone.

import assert from 'node:assert/strict'
import { runExample, startRun } from '../shared/example.ts'
import { heading, note, watchRun } from '../shared/show.ts'

const runner = new URL('./runner.ts', import.meta.url)

await runExample({ runner }, async ({ client }) => {
  const order = { orderId: 'A-1', item: 'tent', amount: 240, country: 'AT' }
  const stepsOf = async (id: string) => {
    const { items } = await client.listRunSteps({ id })
    return items.map(({ name, status }) => `${name} ${status}`)
  }
  const checkOut = async (title: string, data: typeof order) => {
    heading(title)
    const runId = await startRun(client, 'cart/checked-out', data)
    const { result, error } = await watchRun(client, runId)
    note(JSON.stringify(result ?? error?.message))
    const [cleanup] = (await client.listRuns({ parentRunId: runId })).items
    if (cleanup) note(`run ${cleanup.id} cleans up`)
    const undone = cleanup && (await watchRun(client, cleanup.id))
    return {
      ...(result === undefined ? { failed: error?.stepName } : { result }),
      steps: await stepsOf(runId),
      ...(undone && { cleanup: [undone.status, ...(await stepsOf(undone.id))] }),
    }
  }

  assert.deepEqual(await checkOut('All goes well', order), {
    result: { status: 'shipped', tracking: 'TRK-A-1' },
    steps: ['reserve succeeded', 'charge succeeded', 'ship succeeded'],
  })
  assert.deepEqual(await checkOut('The card is declined: the stock is released', { ...order, amount: 9000 }), {
    failed: 'charge',
    steps: ['reserve succeeded', 'charge failed'],
    cleanup: ['succeeded', 'rollback:reserve succeeded'],
  })
  assert.deepEqual(await checkOut('Nobody ships there: refunded, then released', { ...order, country: 'AQ' }), {
    failed: 'ship',
    steps: ['reserve succeeded', 'charge succeeded', 'ship failed'],
    cleanup: ['succeeded', 'rollback:charge succeeded', 'rollback:reserve succeeded'],
  })
})
