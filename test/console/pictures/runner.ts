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

/** Keeps paths of this machine out of the pictures. */
Error.stackTraceLimit = 0

const closing = new AbortController()
setMaxListeners(0, closing.signal)
/** Ends early when the runner closes, so that no pass is under way at that time. */
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

/** Rows of each region, which run in parallel. With the first and the last step, a run has its maximum number of steps. */
const REGIONS = {
  alps: 1000,
  coast: 1000,
  delta: 12,
  east: 1000,
  fens: 1000,
  gorge: 1000,
  hills: 1000,
  isles: 1000,
  lakes: 1000,
  moors: 1000,
  north: 986,
}

const importRows = createWorkflow(
  { name: 'import-rows', triggers: { event: 'rows.uploaded' }, retry: { maxAttempts: 1 } },
  async ({ step }) => {
    await step.run('read-file', () => pause(200))
    let rows = 0
    let bad = 0
    for (const [region, count] of Object.entries(REGIONS)) {
      const badRow = Math.floor(count * 0.7)
      const importRow = (row: number) =>
        step.run(`import-${region}-${row}`, async () => {
          await pause(100 + (row % 40) * 20)
          if (row === badRow) throw new NonRetriableError(`row ${row} of ${region} has no customer`)
          return { row }
        })
      const imported = await Promise.allSettled(Array.from({ length: count }, (_, row) => importRow(row)))
      rows += count
      bad += imported.filter(({ status }) => status === 'rejected').length
    }
    await step.run('write-report', () => pause(200))
    return { rows, bad }
  },
)

/** Its runs wait for each other: one at a time per customer. */
const syncCustomer = createWorkflow(
  {
    name: 'sync-customer',
    triggers: { event: 'customer.changed' },
    concurrency: { limit: 1, key: 'event.data.customer' },
  },
  async ({ step }) => step.run('copy-records', () => pause(280_000)),
)

/** The offer is different in every run, so that a replay differs. */
const makeOffer = createWorkflow({ name: 'make-offer', triggers: { event: 'offer.wanted' } }, async ({ step }) => {
  const rate = await step.run('read-rate', () => ({ currency: 'EUR', rate: Math.round(Math.random() * 1e6) / 1e6 }))
  await step.run('write-offer', () => ({ total: Math.round(40_000 * rate.rate) / 100 }))
})

const nightlyReport = createWorkflow(
  { name: 'nightly-report', triggers: { cron: 'TZ=Europe/Berlin 0 2 * * *' } },
  async ({ step }) => step.run('sum-up', () => 42),
)

/** Events of one customer within a minute become one run. */
const refreshProfile = createWorkflow(
  {
    name: 'refresh-profile',
    triggers: { event: 'profile.viewed' },
    debounce: { period: '10m', key: 'event.data.customer' },
  },
  async ({ step }) => step.run('refresh', () => 1),
)

const sendDigest = createWorkflow(
  {
    name: 'send-digest',
    triggers: { event: 'comment.written' },
    batch: { maxSize: 50, timeout: '1h', key: 'event.data.thread' },
  },
  async ({ step }) => step.run('send', () => 1),
)

/** One run at a time per warehouse. */
const countStock = createWorkflow(
  {
    name: 'count-stock',
    triggers: { event: 'stock.counted' },
    singleton: { mode: 'skip', key: 'event.data.warehouse' },
  },
  async ({ step }) => step.run('count', () => pause(280_000)),
)

const runner = await serve({
  app: 'shop',
  workflows: [processOrder, importRows, syncCustomer, makeOffer, nightlyReport, refreshProfile, sendDigest, countStock],
  port: 0,
})
await runner.ready
process.stdout.write(`runner of app "shop" listens on ${runner.url}\n`)
process.on('SIGTERM', () => {
  closing.abort()
  void runner.close()
})
