// The code of docs/streams.md. `streams.test.ts` runs it, and `snippets.test.ts` compares it with the page.

import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'

interface Question {
  question: string
}

const model = {
  async *parts(question: string) {
    yield* ['About ', question]
  },
}
const database = {
  async *rows() {
    yield* [{ sku: 'tea' }, { sku: 'jam' }]
  },
}

export const answer = createWorkflow({ name: 'docs-answer' }, ({ event, step }: WorkflowArgs<Question>) =>
  step.run('ask', async ({ stream }) => {
    const out = stream('answer')
    for await (const part of model.parts(event.data.question)) await out.write(part)
    return out.text()
  }),
)

export const report = createWorkflow({ name: 'docs-report' }, ({ step }) =>
  step.run('rows', async ({ stream }) => {
    const rows = await stream('rows').pipe(database.rows())
    return { count: rows.length }
  }),
)
