// A patient's stay. Nothing in here knows of encryption: events, steps, waits and the child see plain values.

import { createWorkflow, defineEvent } from '@perdure/sdk'
import { z } from 'zod'

export const admitted = defineEvent('patient/admitted', z.object({ name: z.string(), complaint: z.string() }))
export const tested = defineEvent('patient/tested', z.object({ finding: z.string() }))

export const bill = createWorkflow(
  { name: 'bill', input: z.object({ name: z.string(), finding: z.string() }) },
  async ({ event, step }) =>
    step.run('write', () => ({ text: `To ${event.data.name}: ${event.data.finding}` })),
)

export const stay = createWorkflow({ name: 'stay', triggers: admitted }, async ({ event, step }) => {
  const { name, complaint } = event.data
  const chart = await step.run('open-chart', () => ({ title: `${name}, ${complaint}` }))
  // The engine cannot read the data, so an `if` here could not either: names are what it matches by.
  const test = await step.waitForEvent('laboratory', { event: tested, timeout: '1h' })
  if (!test) return { chart: chart.title, bill: undefined }
  const { text } = await step.runWorkflow('bill', {
    workflow: bill,
    data: { name, finding: test.data.finding },
  })
  return { chart: chart.title, bill: text }
})
