// Waiting for a person: ask, remind after a while, escalate to the next one, and give up in the end. A run that waits
// costs nothing: it is a row in the engine's store, for minutes or for weeks.

import { createWorkflow, defineEvent } from '@perdure/sdk'
import { z } from 'zod'
import { mail } from './mail.ts'

// The events with what they carry: checked when they come in, and the types of everything below.
const submitted = defineEvent(
  'expense/submitted',
  z.object({
    expenseId: z.string(),
    amount: z.number().positive(),
    /** Who is asked, in this order. */
    approvers: z.array(z.string()).nonempty(),
  }),
)
const decided = defineEvent(
  'expense/decided',
  z.object({ expenseId: z.string(), by: z.string(), approved: z.boolean() }),
)

const REMIND_AFTER = process.env.REMIND_AFTER ?? '1d'
const ESCALATE_AFTER = process.env.ESCALATE_AFTER ?? '2d'

export const approveExpense = createWorkflow(
  { name: 'approve-expense', triggers: submitted },
  async ({ event, step }) => {
    const { expenseId, amount, approvers } = event.data

    // Decisions on other expenses wake other runs. One that came before we asked is not lost: a wait also takes
    // what has arrived since its run began.
    const decision = (name: string, timeout: string) =>
      step.waitForEvent(name, {
        event: decided,
        if: 'async.data.expenseId == event.data.expenseId',
        timeout,
      })

    for (const approver of approvers) {
      await step.run(`ask ${approver}`, () =>
        mail(approver, `Expense ${expenseId} over ${amount}: yes or no?`),
      )
      let answer = await decision(`decision of ${approver}`, REMIND_AFTER)
      if (!answer) {
        await step.run(`remind ${approver}`, () => mail(approver, `Expense ${expenseId} still waits for you`))
        answer = await decision(`late decision of ${approver}`, ESCALATE_AFTER)
      }
      if (answer) return { status: answer.data.approved ? 'approved' : 'rejected', by: answer.data.by }
    }
    return { status: 'expired' }
  },
)
