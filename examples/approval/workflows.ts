// Waits for the decision of a person: sends a mail, a reminder later, then a mail to the next person, and expires after
// the last one. A waiting run needs no process: it is only a row in the engine's store, for minutes or for weeks.

import { createWorkflow, defineEvent } from 'perdure'
import { z } from 'zod'
import { mail } from './mail.ts'

// The events with the schemas of their data. The schemas validate arriving events and type the code below.
const submitted = defineEvent(
  'expense/submitted',
  z.object({
    expenseId: z.string(),
    amount: z.number().positive(),
    /** The people who may decide, in the order in which they get the mail. */
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

    // Decisions on other expenses wake other runs. A decision that arrives before the wait is not lost: a wait also takes
    // events that arrived since the run began.
    const decision = (name: string, timeout: string) =>
      step.waitForEvent(name, {
        event: decided,
        if: 'async.data.expenseId == event.data.expenseId',
        timeout,
      })

    for (const approver of approvers) {
      await step.run(`ask ${approver}`, () => mail(approver, `Expense ${expenseId} over ${amount}: yes or no?`))
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
