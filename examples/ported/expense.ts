// An expense with two gates: the manager decides, then, above a limit, the finance team. A decision is an update, so that each click
// gets an answer. A second click finds its gate closed: it changes nothing, and its answer says who decided.

import { createWorkflow, type WorkflowArgs } from 'perdure'

export const FINANCE_FROM = 1_000

export interface Expense {
  expenseId: string
  amount: number
}

export type Gate = 'manager' | 'finance'

export interface Decision {
  gate: Gate
  by: string
  approved: boolean
}

/** The answer to a click. */
export interface Answer {
  counted: boolean
  message: string
}

export const approveExpense = createWorkflow(
  { name: 'approve-expense', triggers: { event: 'expense/submitted' } },
  async ({ event, step, ctx }: WorkflowArgs<Expense>) => {
    const { expenseId, amount } = event.data
    const gates: Gate[] = amount < FINANCE_FROM ? ['manager'] : ['manager', 'finance']
    const decided: Decision[] = []

    for (const gate of gates) {
      await step.run(`ask ${gate}`, () => mail(gate, `Expense ${expenseId} over ${amount}: yes or no?`))
      ctx.attributes({ gate })
      const decision = await decisionOf(gate)
      if (decision === null) return { status: 'expired', gate }
      decided.push(decision)
      if (!decision.approved) return { status: 'rejected', by: decision.by }
    }
    await step.run('pay out', ({ idempotencyKey }) => payOut(expenseId, amount, idempotencyKey))
    return { status: 'paid', approvedBy: decided.map(({ by }) => by) }

    /** Answers every click until one decides the gate. Null if nobody decides within a week. */
    async function decisionOf(gate: Gate): Promise<Decision | null> {
      const tooLate = step.sleep(`patience of ${gate}`, '7d')
      for (;;) {
        const { winner, value: click } = await step.race({
          tooLate,
          click: () => step.waitForSignal(`decision of ${gate}`, { signal: 'decide' }),
        })
        if (winner === 'tooLate' || click === null) return null
        const { data } = click
        if (!isDecision(data)) {
          await click.reject('a decision has a gate, a name in `by`, and true or false in `approved`')
          continue
        }
        if (data.gate === gate) {
          await click.reply({ counted: true, message: `${gate}: ${verb(data)}` } satisfies Answer)
          return data
        }
        const earlier = decided.find(decision => decision.gate === data.gate)
        const message = earlier ? `${earlier.by} has ${verb(earlier)} already` : `${gate} comes first`
        await click.reply({ counted: false, message } satisfies Answer)
      }
    }
  },
)

/** Nothing has checked what the sender of an update wrote. */
function isDecision(data: unknown): data is Decision {
  const { gate, by, approved } = (data ?? {}) as Record<keyof Decision, unknown>
  return (gate === 'manager' || gate === 'finance') && typeof by === 'string' && typeof approved === 'boolean'
}

const verb = ({ approved }: Decision) => (approved ? 'approved' : 'rejected')

/** Stands for a mail service. The mail has a button for each decision. */
async function mail(to: Gate, text: string) {
  return { to, text }
}

/** Stands for a bank, which pays once for each key. */
async function payOut(expenseId: string, amount: number, key: string) {
  return { transfer: `${expenseId}-${key.slice(-6)}`, amount }
}
