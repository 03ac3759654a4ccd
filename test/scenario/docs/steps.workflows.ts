// The code of docs/steps.md, line by line. `steps.test.ts` runs it, and compares it with the page.

import {
  createWorkflow,
  currentRun,
  defineEvent,
  log,
  NonRetriableError,
  RetryAfterError,
  StepFailedError,
  type WorkflowArgs,
} from '@perdure/sdk'
import { z } from 'zod'

interface Order {
  orderId: string
  amount: number
  email: string
  hookUrl: string
}

/** Imitated services: the calls they got, in order. */
export const calls: string[] = []
let chargesThatFail = 0
export const letChargesFail = (times: number) => {
  chargesThatFail = times
}
const payments = {
  async charge(amount: number, options: { idempotencyKey: string; signal: AbortSignal }) {
    calls.push(`charge ${amount}`)
    if (options.signal.aborted || chargesThatFail-- > 0) throw new Error('The provider timed out')
    return { chargeId: `ch_${amount}`, at: new Date(0) }
  },
  async pay(amount: number, _key: string) {
    return { chargeId: `ch_${amount}` }
  },
  async refund(chargeId: string, _key: string) {
    calls.push(`refund ${chargeId}`)
  },
}
const warehouse = {
  reserve: async (orderId: string) => ({ shelf: `shelf of ${orderId}` }),
  release: async (shelf: string) => void calls.push(`release ${shelf}`),
}
const mail = async (to: string, text: string) => {
  calls.push(`mail ${to}: ${text}`)
}
const quote = async (carrier: string) => ({ carrier, price: carrier.length })

export const run = createWorkflow(
  { name: 'docs-run', retry: { maxAttempts: 5, initialMs: 1000 } },
  async ({ event, step }: WorkflowArgs<Order>) => {
    const charge = await step.run('charge', async ({ idempotencyKey, signal, logger }) => {
      logger.info('calling the payment provider', { amount: event.data.amount })
      return payments.charge(event.data.amount, { idempotencyKey, signal })
    })
    charge.at // a string: the result of a step goes through JSON
    return charge
  },
)

export const sleep = createWorkflow({ name: 'docs-sleep' }, async ({ event, step }: WorkflowArgs<Order>) => {
  await step.sleep('cool off', '3d')
  const reminder = await step.run('choose a time', () => nextMonday(Date.now()))
  await step.sleepUntil('monday', reminder)
  await step.run('remind', () => mail(event.data.email, 'it is Monday'))
})
const nextMonday = (now: number) => {
  const days = (8 - new Date(now).getUTCDay()) % 7 || 7
  return new Date(now + days * 86_400_000).toISOString()
}

export const waitForRun = createWorkflow(
  { name: 'docs-wait-for-run' },
  async ({ event, step }: WorkflowArgs<{ runId: string }>) => {
    const end = await step.waitForRun<{ label: string }>('label', { runId: event.data.runId, timeout: '2h' })
    if (end === null) return 'too late'
    return end.status === 'succeeded' ? end.result.label : `${end.runId}: ${end.status}`
  },
)

export const wait = createWorkflow({ name: 'docs-wait' }, async ({ step }: WorkflowArgs<Order>) => {
  const paid = await step.waitForEvent<{ orderId: string; by: string }>('payment', {
    event: 'order/paid',
    if: 'async.data.orderId == event.data.orderId',
    timeout: '3d',
  })
  if (paid === null) return { status: 'expired' }
  return { status: 'paid', by: paid.data.by }
})

export const callback = createWorkflow({ name: 'docs-callback' }, async ({ event, step, ctx }: WorkflowArgs<Order>) => {
  const approval = ctx.callback<{ approved: boolean }>('approval', { timeout: '7d' })
  await step.run('ask', () => mail(event.data.email, `Approve: ${approval.url}`))
  const answer = await approval.wait()
  return answer === null ? 'forgotten' : answer.approved
})

const syncPage = (page: number) => {
  calls.push(`sync ${page}`)
  return page < 3
}

export const continues = createWorkflow(
  { name: 'docs-continue' },
  async ({ event, step, ctx }: WorkflowArgs<{ page: number }>) => {
    const { page } = event.data
    const more = await step.run('sync', () => syncPage(page))
    await step.sleep('pause', '1h')
    if (more) return ctx.continueAs({ page: page + 1 })
    return page
  },
)

const orderPaid = defineEvent('order/settled', z.object({ orderId: z.string(), cents: z.number().int() }))

export const typed = createWorkflow({ name: 'docs-typed' }, async ({ event, step }: WorkflowArgs<Order>) => {
  const settled = await step.waitForEvent('settled', { event: orderPaid, timeout: '3d' })
  const cents = settled === null ? 0 : settled.data.cents
  await step.emit('settle', { event: orderPaid, data: { orderId: event.data.orderId, cents } })
  return cents
})

const shipOrder = createWorkflow({ name: 'docs-ship' }, async ({ event, step }: WorkflowArgs<{ orderId: string }>) => {
  const label = await step.run('print label', () => `LABEL-${event.data.orderId}`)
  return { label }
})

export const child = createWorkflow({ name: 'docs-child' }, async ({ event, step }: WorkflowArgs<Order>) => {
  const { orderId } = event.data
  const { label } = await step.runWorkflow('ship', { workflow: shipOrder, data: { orderId } })
  return label
})

export const tell = createWorkflow({ name: 'docs-tell' }, async ({ event, step, ctx }: WorkflowArgs<Order>) => {
  const { orderId, hookUrl } = event.data
  await step.emit('announce', { event: 'order/shipped', data: { orderId } })
  await ctx.webhook.send('tell the warehouse', { url: hookUrl, data: { orderId } })
})

export const own = createWorkflow({ name: 'docs-own' }, async ({ step, ctx }: WorkflowArgs<Order>) => {
  const startedMs = await ctx.now()
  const reference = await ctx.uuid()
  const isChecked = (await ctx.random()) < 0.1 // one in ten, and the same ones on every pass
  const customer = { plan: 'pro' }
  ctx.attributes({ plan: customer.plan, trial: null })
  await step.sleep('a while', '1h')
  return { startedMs, reference, isChecked }
})

export const parts = createWorkflow({ name: 'docs-parts' }, async ({ step, ctx }: WorkflowArgs<Order>) => {
  const parts = [
    { name: 'cover', number: 1 },
    { name: 'pages', number: 2 },
  ]
  const convert = ({ number }: { number: number }) => number
  for (const part of parts) {
    await step.run(part.name, () => convert(part))
    ctx.progress({ done: part.number, of: parts.length })
  }
})

const tellSales = async (orderId: string) => {
  const run = currentRun() // { ctx, step, event, log, attributes, progress }, or undefined outside of runs
  log.info('telling sales', { orderId })
  await mail('sales', `${orderId} of run ${run?.ctx.runId ?? 'none'}`)
}

export const ambient = createWorkflow({ name: 'docs-ambient' }, ({ event, step }: WorkflowArgs<Order>) =>
  step.run('tell', () => tellSales(event.data.orderId)),
)

interface Question {
  question: string
}
const model = async (question: string) => ({ text: `About ${question}`, tokens: 912 })

export const research = createWorkflow(
  { name: 'docs-research', budget: { usd: 5, tokens: 200_000, steps: 500, runs: 50 } },
  ({ event, step }: WorkflowArgs<Question>) =>
    step.run('ask', async ({ spend }) => {
      const { text, tokens } = await model(event.data.question)
      spend({ usd: tokens * 0.00002, tokens })
      return text
    }),
)

export const basket = createWorkflow({ name: 'docs-basket' }, async ({ step }) => {
  const items: string[] = []
  for (;;) {
    const add = await step.waitForSignal<{ sku: string }>('add', { signal: 'add-item', timeout: '1h' })
    if (add === null) return items
    if (items.length === 2) {
      await add.reject('the basket is full')
      continue
    }
    items.push(add.data.sku)
    await add.reply({ count: items.length })
  }
})

let passes = 0
/** Breaks the rule: its step's name depends on a value that no engine stores. */
export const drift = createWorkflow({ name: 'docs-drift' }, async ({ step }: WorkflowArgs<Order>) => {
  await step.run(passes++ === 0 ? 'first' : 'second', () => passes)
  await step.run('last', () => passes)
})

export const repeats = createWorkflow({ name: 'docs-repeats' }, async ({ step }: WorkflowArgs<Order>) => {
  const prices: number[] = []
  for (const carrier of ['ups', 'dhl', 'post']) {
    prices.push(await step.run('quote', async () => (await quote(carrier)).price)) // quote, quote:1, quote:2
  }
  return prices
})

export const together = createWorkflow({ name: 'docs-together' }, async ({ step }: WorkflowArgs<Order>) => {
  const carriers = ['ups', 'dhl', 'post']
  const quotes = await step.map('quote', carriers, carrier => quote(carrier), { concurrency: 2 })

  const answer = await step.race({
    accepted: () => step.waitForEvent('yes', { event: 'quote/accepted' }),
    declined: () => step.waitForEvent('no', { event: 'quote/declined' }),
    forgotten: () => step.sleep('patience', '7d'),
  })
  const outcome = answer.winner
  return { quotes: quotes.length, answer: outcome }
})

const askForRate = async ({ signal }: { signal: AbortSignal }) => (signal.aborted ? 0 : 2)
export const bookParcel = createWorkflow({ name: 'docs-book' }, async ({ step }: WorkflowArgs<{ rate: number }>) => {
  await step.waitForEvent('confirmation', { event: 'parcel/booked' })
  return 'booked'
})
export const limits = createWorkflow({ name: 'docs-limits' }, async ({ step }) => {
  const rate = await step.run('ask for the rate', ({ signal }) => askForRate({ signal }), { timeout: '5s' })
  const parcel = await step.race({
    booked: () => step.runWorkflow('book', { workflow: bookParcel, data: { rate } }),
    late: () => step.sleep('time to book', '10m'),
  })
  return { rate, parcel: parcel.winner }
})
const database = {
  stockOf: async (item: string) => {
    await new Promise(resolve => setTimeout(resolve, 5))
    return `the stock of ${item}`
  },
}
const ship = (stock: string) => void calls.push(`ship from ${stock}`)

/** I/O outside of steps, which costs a pass. */
export const between = createWorkflow(
  { name: 'docs-between' },
  async ({ event, step }: WorkflowArgs<{ item: string }>) => {
    await Promise.race([step.waitForEvent('paid', { event: 'order/paid' }), step.sleep('too late', '1d')])
    const stock = await database.stockOf(event.data.item) // the other step of the race is open: the pass is answered here
    await step.run('ship', () => ship(stock))
  },
)

/** A mistake that the page warns of. */
export const beside = createWorkflow({ name: 'docs-beside' }, ({ step }) =>
  Promise.race([
    step.run('slow', async () => {
      await new Promise(resolve => setTimeout(resolve, 30))
      return 'the step'
    }),
    step.sleep('short', 1).then(() => 'the sleep'),
  ]),
)

export const failures = createWorkflow(
  {
    name: 'docs-failures',
    retry: { maxAttempts: 3, initialMs: 1000, factor: 2, maxMs: 60_000, jitter: 0.2 },
    onFailure: async ({ event, error, step }) => {
      await step.run('tell support', () => mail('support', `${event.data.orderId}: ${error.message}`))
    },
  },
  async ({ event, step }: WorkflowArgs<Order>) => {
    try {
      await step.run('charge', ({ idempotencyKey, signal }) =>
        payments.charge(event.data.amount, { idempotencyKey, signal }),
      )
    } catch (error) {
      if (!(error instanceof StepFailedError)) throw error
      await step.run('say sorry', () => mail(event.data.email, `${error.stepName}: ${error.message}`))
    }
    await step.run('book parcel', () => {
      if (event.data.amount < 0) throw new NonRetriableError('There is nothing to ship')
      if (event.data.amount > 9000) throw new RetryAfterError('The carrier is closed', '8h')
    })
  },
)

export const rollbacks = createWorkflow(
  {
    name: 'docs-rollbacks',
    onCancel: async ({ event, step, steps }) => {
      await step.run('say what ends', () => mail(event.data.email, `Cancelled after ${Object.keys(steps).join(', ')}`))
    },
  },
  async ({ event, step }: WorkflowArgs<Order>) => {
    const stock = await step.run('reserve', () => warehouse.reserve(event.data.orderId), {
      rollback: ({ shelf }) => warehouse.release(shelf),
    })
    const { chargeId } = await step.run('pay', ({ idempotencyKey: key }) => payments.pay(event.data.amount, key), {
      rollback: ({ chargeId }, { idempotencyKey: key }) => payments.refund(chargeId, key),
    })
    if (event.data.amount < 0) throw new NonRetriableError(`Nobody fetches ${stock.shelf} for ${chargeId}`)
    await step.waitForEvent('fetched', { event: 'order/fetched' })
  },
)

const vendor = { quote: async (amount: number) => amount * 2 }

/** Options of the runner that serves these workflows. */
export const options = {
  limits: { vendor: { limit: 50, period: '1m' } },
} as const

export const quotes = createWorkflow({ name: 'docs-quotes' }, async ({ event, step }: WorkflowArgs<Order>) => {
  const quote = await step.run('quote', () => vendor.quote(event.data.amount), { limit: 'vendor', limitKey: 'eu' })
  return quote
})

export const policies = createWorkflow(
  {
    name: 'docs-policies',
    retry: { maxAttempts: 'unlimited', maxElapsed: '1d', nonRetriable: ['CardDeclined', 'E_CLOSED'] },
  },
  () => 'done',
)

export const all = [
  run,
  sleep,
  waitForRun,
  wait,
  callback,
  continues,
  typed,
  shipOrder,
  child,
  tell,
  own,
  ambient,
  research,
  basket,
  drift,
  repeats,
  together,
  bookParcel,
  limits,
  between,
  beside,
  failures,
  rollbacks,
  quotes,
  policies,
]
