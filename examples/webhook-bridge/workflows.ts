// Turns a push to GitHub into a result that the engine sends as a signed webhook. This file contains neither side of the
// bridge: the engine verifies arriving messages and signs those it sends.

import { createWorkflow, type WorkflowArgs } from 'perdure'

/** The fields of GitHub's push payload that the workflow uses. The event's data contains the whole payload. */
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
    const changes = await step.run('read commits', () => commits.map(({ message }) => message.split('\n', 1)[0]))
    return { repository: repository.full_name, by: pusher.name, changes }
  },
)
