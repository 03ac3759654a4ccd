// The code of docs/schemas.md and docs/middleware.md, line by line. `schemas.test.ts` runs it, and compares it with
// the pages.

import {
  type Client,
  createWorkflow,
  defineEvent,
  type InputPlace,
  type Middleware,
  NonRetriableError,
  type OutputPlace,
  StepFailedError,
  type StepTools,
  type WorkflowArgs,
} from '@perdure/sdk'
import { z } from 'zod'

/** The reports of the middleware below, in order. */
export const reported: string[] = []
const metrics = {
  timing: (name: string, ms: number) => reported.push(`${name} took ${ms >= 0 ? 'a while' : 'no time'}`),
  count: (name: string) => reported.push(name),
}
const errorTracker = {
  capture: (error: unknown, about: object) => reported.push(`${error} in ${JSON.stringify(about)}`),
}
const carrier = { book: async (order: { orderId: string }) => ({ tracking: `TRK-${order.orderId}` }) }

const order = z.object({
  orderId: z.string(),
  items: z.array(z.object({ sku: z.string(), count: z.number().int().positive() })).min(1),
  placedAt: z.coerce.date(),
})

export const ship = createWorkflow({ name: 'ship', input: order }, async ({ event, step }) => {
  const { tracking } = await step.run('book', () => carrier.book(event.data))
  return { tracking, year: event.data.placedAt.getFullYear() }
})

const payBack = async (orderId: string, cents: number) => ({ orderId, cents })

export const refund = createWorkflow(
  {
    name: 'refund',
    description: 'Pays an order back. The order must be paid.',
    input: z.object({ orderId: z.string().regex(/^o-[0-9]+$/), cents: z.number().int().positive() }),
    tool: true,
  },
  async ({ event, step }) => step.run('pay back', () => payBack(event.data.orderId, event.data.cents)),
)

export const orderPaid = defineEvent('order/paid', z.object({ orderId: z.string(), cents: z.number() }))
export const orderRefunded = defineEvent('order/refunded', z.object({ orderId: z.string(), reason: z.string() }))

export const book = createWorkflow(
  {
    name: 'book',
    triggers: [orderPaid, { event: orderRefunded, if: 'event.data.reason != "test"' }],
  },
  async ({ event, step }) => {
    if (event.name === 'order/paid') return step.run('credit', () => event.data.cents)
    return step.run('note', () => event.data.reason)
  },
)

export async function useSteps(step: StepTools, orderId: string) {
  const paid = await step.waitForEvent('payment', {
    event: orderPaid,
    if: 'async.data.orderId == event.data.orderId',
    timeout: '3d',
  })
  if (paid === null) return 'expired'
  await step.emit('give back', {
    event: orderRefunded,
    data: { orderId, reason: `${paid.data.cents} too many` },
  })

  const shipped = await step.runWorkflow('ship', {
    workflow: ship,
    data: { orderId, items: [{ sku: 'tent', count: 1 }], placedAt: '2026-11-21' },
  })
  return shipped.tracking
}

export async function send(client: Client) {
  await client.send(orderPaid, { orderId: 'A-1', cents: 4200 }, { dedupeId: 'payment-77' })
}

export const everyStep = createWorkflow(
  { name: 'every-step', input: z.object({ orderId: z.string() }) },
  ({ event, step }) => useSteps(step, event.data.orderId),
)

const timing: Middleware = {
  name: 'timing',
  async wrapStep({ step, ctx, next }) {
    const startedMs = Date.now()
    try {
      return await next()
    } finally {
      metrics.timing(`${ctx.workflow}.${step.name}`, Date.now() - startedMs)
    }
  },
}

const errors: Middleware = {
  name: 'errors',
  async wrapStep({ step, ctx, next }) {
    try {
      return await next()
    } catch (error) {
      errorTracker.capture(error, { workflow: ctx.workflow, step: step.name })
      throw error
    }
  },
  async wrapRun({ ctx, next }) {
    try {
      return await next()
    } catch (error) {
      if (!(error instanceof StepFailedError)) errorTracker.capture(error, { workflow: ctx.workflow })
      throw error
    }
  },
  onPassEnd: ({ ctx, end }) => metrics.count(`${ctx.workflow} ${end.kind}`),
}

const MARK = '$date'
const dates: Middleware = {
  name: 'dates',
  transformOutput: (value: unknown, _place: OutputPlace) => (value instanceof Date ? { [MARK]: +value } : value),
  transformInput: (value: unknown, _place: InputPlace) =>
    typeof value === 'object' && value !== null && MARK in value ? new Date(value[MARK] as number) : value,
}

export const observed = createWorkflow({ name: 'observed', middleware: [errors, timing, dates] }, async ({ step }) => {
  const now = await step.run('look at the clock', () => new Date(0))
  await step.run('look again', () => new Date(0))
  return (now as unknown) instanceof Date
})

/** Fails in a step, or in the handler, as the event says. */
export const failing = createWorkflow(
  { name: 'failing', retry: { maxAttempts: 1 }, middleware: [errors] },
  async ({ event, step }: WorkflowArgs<{ where: 'step' | 'caught step' | 'handler' }>) => {
    const { where } = event.data
    if (where === 'handler') throw new NonRetriableError('no handler')
    await step.run('break', () => Promise.reject(new Error('no step')), { catch: where === 'caught step' })
  },
)
