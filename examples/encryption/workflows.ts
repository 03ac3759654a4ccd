// A patient's stay. The workflows contain no encryption: events, steps, waits and the child see plain values.

import { createWorkflow, defineEvent } from 'perdure'
import { z } from 'zod'

export const admitted = defineEvent('patient/admitted', z.object({ name: z.string(), complaint: z.string() }))
export const tested = defineEvent('patient/tested', z.object({ finding: z.string() }))

export const bill = createWorkflow(
  { name: 'bill', input: z.object({ name: z.string(), finding: z.string() }) },
  async ({ event, step }) => step.run('write', () => ({ text: `To ${event.data.name}: ${event.data.finding}` })),
)

export const stay = createWorkflow({ name: 'stay', triggers: admitted }, async ({ event, step }) => {
  const { name, complaint } = event.data
  const chart = await step.run('open-chart', () => ({ title: `${name}, ${complaint}` }))
  // The engine cannot read the data, so an `if` could not match by it: the wait matches by name only.
  const test = await step.waitForEvent('laboratory', { event: tested, timeout: '1h' })
  if (!test) return { chart: chart.title, bill: undefined }
  const { text } = await step.runWorkflow('bill', {
    workflow: bill,
    data: { name, finding: test.data.finding },
  })
  return { chart: chart.title, bill: text }
})
