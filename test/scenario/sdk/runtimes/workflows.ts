// The workflows of every runtime: a step, a sleep, a callback that spans an await, and a workflow that waits to be cancelled.

import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'

export const app = process.env.RUNNER_APP ?? 'runtime'

const greet = createWorkflow({ name: app }, async ({ event, step, ctx }: WorkflowArgs<{ to: string }>) => {
  const text = await step.run('greet', async () => {
    await Promise.resolve()
    ctx.logger.info('greeting')
    return `hellö ${event.data.to}`
  })
  await step.sleep('rest', 5)
  return text.toUpperCase()
})

const slow = createWorkflow({ name: `${app}/slow` }, ({ step }) =>
  step.run('slow', ({ signal }) => {
    console.log('slow started')
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        console.log('slow aborted')
        reject(signal.reason)
      })
    })
  }),
)

export const workflows = [greet, slow]
