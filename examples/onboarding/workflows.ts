// Mails over two weeks: a loop with sleeps. The run lasts for days, across deployments and restarts. When the user
// unsubscribes or upgrades, it ends, even during a sleep.

import { createWorkflow, type WorkflowArgs } from 'perdure'
import { sendMail } from './mail.ts'

export interface User {
  userId: string
  name: string
}

/** Length of a day. The demo sets a short one, so that two weeks pass in seconds. */
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
    // Two sign-ups of one user (a double click, a repeated message) start one series of mails.
    idempotency: { key: 'event.data.userId', ttl: '14d' },
    // The engine ends the run at once in any state: no step has to check whether the user still wants mails.
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
