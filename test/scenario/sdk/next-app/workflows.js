// The workflows of each router, under an app of their own.

import { createWorkflow } from '@perdure/sdk'

/** @param {string} app */
export function workflowsOf(app) {
  const greet = createWorkflow({ name: `${app}/greet` }, async ({ event, step }) => {
    const text = await step.run('greet', () => `hellö ${event.data.to}`)
    return text.toUpperCase()
  })
  /** Runs until it is cancelled, and says so where the test can read it. */
  const slow = createWorkflow({ name: `${app}/slow` }, ({ step }) =>
    step.run('slow', ({ signal }) => {
      console.log(`${app} started`)
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          console.log(`${app} aborted`)
          reject(signal.reason)
        })
      })
    }),
  )
  return [greet, slow]
}
