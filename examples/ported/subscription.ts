// A subscription: one run for each customer, for as long as the customer stays. It charges every month, changes the plan when the
// customer asks, and ends with the paid month after the customer has cancelled.

import { createWorkflow, NonRetriableError, type WorkflowArgs } from 'perdure'

export const PRICES = { basic: 10, team: 50 }
export type Plan = keyof typeof PRICES

export interface Subscription {
  customerId: string
  plan: Plan
}

export const subscription = createWorkflow(
  { name: 'subscription', triggers: { event: 'subscription/started' } },
  async ({ event, step, ctx }: WorkflowArgs<Subscription>) => {
    const { customerId } = event.data
    let { plan } = event.data
    const startedMs = await ctx.now()

    for (let month = 1; ; month++) {
      await step.run(`charge month ${month}`, ({ idempotencyKey }) => charge(customerId, PRICES[plan], idempotencyKey))
      ctx.attributes({ plan, month })
      const monthEnds = step.sleepUntil(`month ${month}`, monthsAfter(startedMs, month))

      for (;;) {
        const news = await step.race({
          over: monthEnds,
          change: () => step.waitForSignal<{ plan?: unknown } | null>('change of plan', { signal: 'change-plan' }),
          cancel: () => step.waitForSignal('cancellation', { signal: 'cancel' }),
        })
        if (news.winner === 'over') break
        if (news.winner === 'cancel') {
          await monthEnds
          return { status: 'cancelled', months: month }
        }
        const change = news.value
        if (change === null) continue
        // Nothing has checked what the sender wrote.
        const wanted = change.data?.plan
        if (!isPlan(wanted)) {
          await change.reject(`there is no plan ${JSON.stringify(wanted ?? null)}`)
          continue
        }
        plan = wanted
        await change.reply({ plan, fromMonth: month + 1, price: PRICES[plan] })
      }
    }
  },
)

const isPlan = (plan: unknown): plan is Plan => typeof plan === 'string' && Object.hasOwn(PRICES, plan)

/** The same day and time some months later, in UTC; the last day of a month that is shorter. */
export function monthsAfter(startedMs: number, months: number): Date {
  const start = new Date(startedMs)
  const end = new Date(start)
  end.setUTCMonth(start.getUTCMonth() + months, 1)
  const days = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate()
  end.setUTCDate(Math.min(start.getUTCDate(), days))
  return end
}

/** Stands for a call of a payment provider, which charges once for each key. */
async function charge(customerId: string, amount: number, key: string) {
  if (amount <= 0) throw new NonRetriableError(`amount must be above 0, not ${amount}`)
  return { receipt: `${customerId}-${key.slice(-6)}`, amount }
}
