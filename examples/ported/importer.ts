// An importer that waits for an export of another service: it asks again and again, less and less often, until the export is ready
// or a deadline has passed. Every twenty questions it continues as another run, so that the history of each stays small.

import { createWorkflow, NonRetriableError, type WorkflowArgs } from 'perdure'

export const POLLS_PER_RUN = 20
const FIRST_PAUSE_MS = 5_000
const PAUSE_MS_MAX = 30 * 60_000
const PATIENCE_MS = 24 * 3_600_000

export interface Import {
  exportId: string
  /** Set when the import continues as another run. */
  progress?: { polls: number; deadlineMs: number }
}

export const importExport = createWorkflow(
  { name: 'import-export', triggers: { event: 'export/requested' } },
  async ({ event, step, ctx }: WorkflowArgs<Import>) => {
    const { exportId } = event.data
    const { polls: earlierPolls, deadlineMs } = event.data.progress ?? {
      polls: 0,
      deadlineMs: (await ctx.now()) + PATIENCE_MS,
    }

    for (let polls = earlierPolls + 1; ; polls++) {
      const { state } = await step.run('poll', () => ask(exportId))
      ctx.progress({ polls, state })
      if (state === 'ready') {
        const { rows } = await step.run('import rows', ({ idempotencyKey }) => importRows(exportId, idempotencyKey))
        return { status: 'imported', rows, polls }
      }
      if (state === 'broken') throw new NonRetriableError(`export ${exportId} is broken`)

      const now = await ctx.now()
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (polls - 1), PAUSE_MS_MAX)
      if (now + pauseMs > deadlineMs) return { status: 'too late', polls }
      await step.sleep('pause', pauseMs)
      if (polls - earlierPolls === POLLS_PER_RUN) return ctx.continueAs({ exportId, progress: { polls, deadlineMs } })
    }
  },
)

// The rest stands for the other service and for a database.

async function ask(_exportId: string): Promise<{ state: 'pending' | 'ready' | 'broken' }> {
  return { state: 'ready' }
}

async function importRows(_exportId: string, _key: string) {
  return { rows: 3 }
}
