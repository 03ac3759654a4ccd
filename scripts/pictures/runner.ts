// The runner of the pictures: a shop with an order that waits for its approval, an import of many rows, offers, and a nightly report.

import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { createWorkflow, NonRetriableError, type WorkflowArgs } from 'perdure'
import { serve } from 'perdure/node'

interface Order {
  customer: string
  total: number
  card?: 'refused'
}

/** The pictures show no path of this machine. */
Error.stackTraceLimit = 0

const closing = new AbortController()
setMaxListeners(0, closing.signal)
/** Ends early when the runner closes, so that no pass is under way then. */
const pause = (ms: number) => setTimeout(ms, undefined, { signal: closing.signal }).catch(() => {})
/** Orders whose first charge has failed, so that the second succeeds. */
const tried = new Set<string>()

const processOrder = createWorkflow(
  {
    name: 'process-order',
    triggers: { event: 'order.placed', if: 'event.data.total > 10' },
    concurrency: { limit: 2, key: 'event.data.customer' },
    retry: { maxAttempts: 3, initialMs: 400 },
  },
  async ({ event, step, ctx }: WorkflowArgs<Order>) => {
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
    ctx.logger.info('the card was charged', { amount: event.data.total })
    await step.sleep('cooling-off', '2s')
    const approval = await step.waitForEvent('approval', { event: 'order.approved', timeout: '7d' })
    return { approved: approval !== null }
  },
)

/** With the first and the last step of the import, as many as a run may have. */
const ROWS = 9998
/** Steps that run side by side. */
const SIDE_BY_SIDE = 1000
/** Every so many rows are bad: eleven of all. */
const BAD_EVERY = 900

const importRows = createWorkflow(
  { name: 'import-rows', triggers: { event: 'rows.uploaded' }, retry: { maxAttempts: 1 } },
  async ({ step }) => {
    await step.run('read-file', () => pause(200))
    const importRow = (row: number) =>
      step.run(`import-row-${row}`, async () => {
        await pause((row % 40) * 20)
        if (row % BAD_EVERY === BAD_EVERY - 1) throw new NonRetriableError(`row ${row} has no customer`)
        return { row }
      })
    let bad = 0
    for (let first = 0; first < ROWS; first += SIDE_BY_SIDE) {
      const count = Math.min(SIDE_BY_SIDE, ROWS - first)
      const rows = await Promise.allSettled(Array.from({ length: count }, (_, n) => importRow(first + n)))
      bad += rows.filter(({ status }) => status === 'rejected').length
    }
    await step.run('write-report', () => pause(200))
    return { rows: ROWS, bad }
  },
)

/** Its runs wait for each other: one at a time for each customer. */
const syncCustomer = createWorkflow(
  {
    name: 'sync-customer',
    triggers: { event: 'customer.changed' },
    concurrency: { limit: 1, key: 'event.data.customer' },
  },
  async ({ step }) => step.run('copy-records', () => pause(280_000)),
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
process.on('SIGTERM', () => {
  closing.abort()
  void runner.close()
})
