// Mails over two weeks: a loop with sleeps in it. The run lives for days, through deploys and restarts, and ends in
// the middle of a sleep when the user unsubscribes or upgrades.

import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'
import { sendMail } from './mail.ts'

export interface User {
  userId: string
  name: string
}

/** A day, but for whoever wants to see two weeks pass in a minute. */
const DAY_MS = Number(process.env.DAY_MS ?? 24 * 60 * 60 * 1000)

const MAILS = [
  { day: 0, subject: 'Welcome' },
  { day: 1, subject: 'Your first project' },
  { day: 3, subject: 'Invite your team' },
  { day: 7, subject: 'Five things you may have missed' },
  { day: 14, subject: 'Your trial ends' },
]

export const onboarding = createWorkflow(
  {
    name: 'onboarding',
    triggers: { event: 'user/signed-up' },
    // Signing up twice (an impatient click, a repeated message) gives one series of mails.
    idempotency: { key: 'event.data.userId', ttl: '14d' },
    // The engine ends the run at once, wherever it is: no mail has to ask whether it is still wanted.
    cancelOn: [
      { event: 'user/unsubscribed', if: 'async.data.userId == event.data.userId' },
      { event: 'user/upgraded', if: 'async.data.userId == event.data.userId' },
    ],
  },
  async ({ event, step }: WorkflowArgs<User>) => {
    let today = 0
    for (const { day, subject } of MAILS) {
      if (day > today) await step.sleep(`until day ${day}`, (day - today) * DAY_MS)
      today = day
      await step.run(`mail of day ${day}`, ({ idempotencyKey }) =>
        sendMail({ to: event.data, subject, idempotencyKey }),
      )
    }
    return { mails: MAILS.length }
  },
)
