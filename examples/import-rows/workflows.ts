// A fan-out: one run splits an import into batches, a child run imports each, and the results are added up. However
// many batches there are, a tenant has four under way at a time: one large import starves nobody else.

import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'
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
    // One step a batch: repeating it after a crash must do no harm, so rows are written under their number.
    return step.run('write rows', async () => {
      const rows = await source.read(event.data)
      return database.write(event.data.tenant, rows)
    })
  },
)

export const importFile = createWorkflow(
  { name: 'import-file', triggers: { event: 'import/requested' } },
  async ({ event, step }: WorkflowArgs<Import>) => {
    // Every pass carries the results of all steps: they hold where rows are, not the rows.
    const { rows } = await step.run('count rows', () => source.count(event.data.file))
    const batches: Batch[] = []
    for (let from = 0; from < rows; from += BATCH_ROWS) {
      batches.push({ ...event.data, from, to: Math.min(from + BATCH_ROWS, rows) })
    }
    // All children begin in one commit; the engine holds back what is over the limit.
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
