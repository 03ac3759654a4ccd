// The workflows of this project.

import { createWorkflow, type WorkflowArgs } from 'perdure'

export interface SignUp {
  id: string
  name: string
}

export const welcome = createWorkflow(
  { name: 'welcome', triggers: { event: 'user/signed-up' } },
  async ({ event, step }: WorkflowArgs<SignUp>) => {
    const greeting = await step.run('compose', () => `Hello, ${event.data.name}!`)
    const confirmed = await step.waitForEvent('confirmation', {
      event: 'user/confirmed',
      if: 'async.data.id == event.data.id',
      timeout: '3d',
    })
    return { greeting, status: confirmed ? 'welcome' : 'forgotten' }
  },
)
