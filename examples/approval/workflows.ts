// Waits for the decision of a person: sends a mail with a link, a reminder later, then a mail to the next person, and expires
// after the last one. A waiting run needs no process: it is only a row in the engine's store, for minutes or for weeks.

import { createWorkflow, type Duration, defineEvent } from 'perdure'
import { z } from 'zod'
import { mail } from './mail.ts'

const submitted = defineEvent(
  'expense/submitted',
  z.object({
    expenseId: z.string(),
    amount: z.number().positive(),
    /** The people who may decide, in the order in which they get the mail. */
    approvers: z.array(z.string()).nonempty(),
  }),
)

const REMIND_AFTER = (process.env.REMIND_AFTER ?? '1d') as Duration
const ESCALATE_AFTER = (process.env.ESCALATE_AFTER ?? '3d') as Duration

export const approveExpense = createWorkflow(
  { name: 'approve-expense', triggers: submitted },
  async ({ event, step, ctx }) => {
    const { expenseId, amount, approvers } = event.data

    for (const approver of approvers) {
      // The link works once, and only for this approver's decision. It can be used before the run waits.
      const decision = ctx.callback<{ approved: boolean }>(`decision of ${approver}`, { timeout: ESCALATE_AFTER })
      await step.run(`ask ${approver}`, () =>
        mail(approver, `Expense ${expenseId} over ${amount}: yes or no?`, decision.url),
      )
      const isDecided = await Promise.race([
        decision.wait().then(() => true),
        step.sleep(`patience with ${approver}`, REMIND_AFTER).then(() => false),
      ])
      if (!isDecided)
        await step.run(`remind ${approver}`, () =>
          mail(approver, `Expense ${expenseId} still waits for you`, decision.url),
        )
      const answer = await decision.wait()
      if (answer) return { status: answer.approved === true ? 'approved' : 'rejected', by: approver }
    }
    return { status: 'expired' }
  },
)
