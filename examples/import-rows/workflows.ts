// A fan-out: one run splits an import into batches, a child run imports each batch, and the run adds up the results. Each
// tenant has at most four batches in flight, so a large import does not delay other tenants.

import { createWorkflow, type WorkflowArgs } from 'perdure'
import { database, source } from './database.ts'

export interface Import {
  tenant: string
  file: string
}

export interface Batch extends Import {
  from: number
  to: number
}

export const BATCH_ROWS = 25
export const BATCHES_MAX = 4

export const importBatch = createWorkflow(
  {
    name: 'import-batch',
    concurrency: { limit: BATCHES_MAX, key: 'event.data.tenant' },
    retry: { maxAttempts: 5, initialMs: 50 },
  },
  async ({ event, step }: WorkflowArgs<Batch>) => {
    // A crash may repeat the step, so rows are written with their number as key: writing them twice does no harm.
    return step.run('write rows', async () => {
      const rows = await source.read(event.data)
      return database.write(event.data.tenant, rows)
    })
  },
)

export const importFile = createWorkflow(
  { name: 'import-file', triggers: { event: 'import/requested' } },
  async ({ event, step }: WorkflowArgs<Import>) => {
    // Every pass contains the results of all steps, so they say where the rows are and do not contain them.
    const { rows } = await step.run('count rows', () => source.count(event.data.file))
    const batches: Batch[] = []
    for (let from = 0; from < rows; from += BATCH_ROWS) {
      batches.push({ ...event.data, from, to: Math.min(from + BATCH_ROWS, rows) })
    }
    // All children are created in one commit. The engine queues those above the limit.
    const results = await Promise.all(
      batches.map(data => step.runWorkflow(`rows ${data.from}-${data.to}`, { workflow: importBatch, data })),
    )
    return {
      batches: results.length,
      imported: sum(results.map(({ imported }) => imported)),
      rejected: sum(results.map(({ rejected }) => rejected)),
      batchesAtOnce: Math.max(...results.map(({ batchesAtOnce }) => batchesAtOnce)),
    }
  },
)

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
