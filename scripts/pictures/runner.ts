// The runner of the pictures: a shop with an order that waits for its approval, an import of many rows, and a nightly report.

import { createWorkflow, type WorkflowArgs } from 'perdure'
import { serve } from 'perdure/node'

interface Order {
  customer: string
  total: number
  card?: 'refused'
}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
/** Orders whose first charge has failed, so that the second succeeds. */
const tried = new Set<string>()

const processOrder = createWorkflow(
  {
    name: 'process-order',
    triggers: { event: 'order.placed', if: 'event.data.total > 10' },
    concurrency: { limit: 2, key: 'event.data.customer' },
    retry: { maxAttempts: 3, initialMs: 400 },
  },
  async ({ event, step }: WorkflowArgs<Order>) => {
    await step.run('reserve-stock', () => pause(120))
    await step.run('charge-card', async () => {
      await pause(300)
      if (event.data.card === 'refused') throw new Error('card 4711 was refused')
      const order = JSON.stringify(event.data)
      if (!tried.has(order)) {
        tried.add(order)
        throw new Error('the bank did not answer in time')
      }
      return { chargeId: 'ch_82', amount: event.data.total }
    })
    await step.sleep('cooling-off', '2s')
    const approval = await step.waitForEvent('approval', { event: 'order.approved', timeout: '7d' })
    return { approved: approval !== null }
  },
)

const importRows = createWorkflow({ name: 'import-rows', triggers: { event: 'rows.uploaded' } }, async ({ step }) => {
  for (let first = 0; first < 120; first += 20)
    await Promise.all(Array.from({ length: 20 }, (_, n) => step.run(`import-row-${first + n}`, () => pause(10 + n))))
  return { rows: 120 }
})

/** Its runs wait for each other: one at a time for each customer. */
const syncCustomer = createWorkflow(
  {
    name: 'sync-customer',
    triggers: { event: 'customer.changed' },
    concurrency: { limit: 1, key: 'event.data.customer' },
  },
  async ({ step }) => step.run('copy-records', () => pause(600_000)),
)

/** Its offer is another one with every run, so that a replay differs. */
const makeOffer = createWorkflow({ name: 'make-offer', triggers: { event: 'offer.wanted' } }, async ({ step }) => {
  const rate = await step.run('read-rate', () => ({ currency: 'EUR', rate: Math.round(Math.random() * 1e6) / 1e6 }))
  await step.run('write-offer', () => ({ total: Math.round(40_000 * rate.rate) / 100 }))
})

const nightlyReport = createWorkflow(
  { name: 'nightly-report', triggers: { cron: 'TZ=Europe/Berlin 0 2 * * *' } },
  async ({ step }) => step.run('sum-up', () => 42),
)

const runner = await serve({
  app: 'shop',
  workflows: [processOrder, importRows, syncCustomer, makeOffer, nightlyReport],
  port: 0,
})
await runner.ready
process.stdout.write(`runner of app "shop" listens on ${runner.url}\n`)
process.on('SIGTERM', () => void runner.close())
