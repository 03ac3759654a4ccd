// A push to GitHub becomes an event, the event a run, and the run's result a signed webhook. Neither side of the bridge
// is in this file: the engine verifies what comes in and signs what goes out.

import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'

/** The part of GitHub's push payload that is used: the event's data is the whole of it. */
export interface Push {
  ref: string
  repository: { full_name: string }
  pusher: { name: string }
  commits: { id: string; message: string }[]
}

export const summarisePush = createWorkflow(
  {
    name: 'summarise-push',
    triggers: { event: 'github/push', if: 'event.data.ref == "refs/heads/main"' },
  },
  async ({ event, step }: WorkflowArgs<Push>) => {
    const { repository, pusher, commits } = event.data
    const changes = await step.run('read commits', () =>
      commits.map(({ message }) => message.split('\n', 1)[0]),
    )
    return { repository: repository.full_name, by: pusher.name, changes }
  },
)
