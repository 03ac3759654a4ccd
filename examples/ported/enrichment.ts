// Enriches 5,000 rows by a service that allows 1,000 calls a minute. The rows are worked off in batches, so that one run has at most
// some hundred steps. Every call is a step, and all of them, of all runs and runners, share the limit of the service.

import { createWorkflow, type WorkflowArgs } from 'perdure'

export const BATCH_ROWS = 100
export const CALLS_PER_MIN = 1_000
/** An option of `connect` and `serve`: what the service allows. */
export const limits = { facts: { limit: CALLS_PER_MIN, period: '1m' } } as const

export interface Table {
  table: string
  rows: number
}

export interface Batch {
  table: string
  from: number
  to: number
}

export const enrichBatch = createWorkflow({ name: 'enrich-batch' }, async ({ event, step }: WorkflowArgs<Batch>) => {
  const { table, from, to } = event.data
  const rows = Array.from({ length: to - from }, (_, index) => from + index)
  const facts = await step.map('enrich', rows, row => lookUp(table, row), { limit: 'facts' })
  return step.run('store', () => store(table, facts))
})

export const enrichTable = createWorkflow(
  { name: 'enrich-table', triggers: { event: 'table/uploaded' } },
  async ({ event, step }: WorkflowArgs<Table>) => {
    const { table, rows } = event.data
    const batches: Batch[] = []
    for (let from = 0; from < rows; from += BATCH_ROWS) {
      batches.push({ table, from, to: Math.min(from + BATCH_ROWS, rows) })
    }
    const counts = await Promise.all(
      batches.map(data => step.runWorkflow(`rows ${data.from}`, { workflow: enrichBatch, data })),
    )
    return { batches: counts.length, stored: counts.reduce((sum, { stored }) => sum + stored, 0) }
  },
)

interface Fact {
  row: number
  country: string
}

/** Stands for the service that knows more about a row. */
async function lookUp(_table: string, row: number): Promise<Fact> {
  return { row, country: row % 2 === 0 ? 'AT' : 'SE' }
}

/** Stands for a database, which writes each row under its number. */
async function store(_table: string, facts: readonly Fact[]) {
  return { stored: facts.length }
}
