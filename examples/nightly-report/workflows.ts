// A report every night at three, sent to whoever wants it as a webhook.

import { createWorkflow, type WorkflowArgs } from '@perdure/sdk'
import { salesBefore } from './sales.ts'

export interface Schedule {
  cron: string
  /** The instant this run is for, which is not when it runs: RFC 3339. */
  scheduledAt: string
}

export const nightlyReport = createWorkflow(
  {
    name: 'nightly-report',
    triggers: { cron: process.env.REPORT_CRON ?? 'TZ=Europe/Vienna 0 3 * * *' },
    concurrency: { limit: 1 },
    timeouts: { run: '1h' },
  },
  async ({ event, step, ctx }: WorkflowArgs<Schedule>) => {
    // Never the clock: a report that is made late, or made again by a replay, is still the one of its night.
    const { scheduledAt } = event.data
    const totals = await step.run('sum up', () => salesBefore(new Date(scheduledAt)))
    const report = { scheduledAt, ...totals }
    // Stored with this step, and posted by the engine until somebody takes it: 8 attempts over 27 hours.
    await ctx.webhook.send('send report', { url: process.env.REPORT_URL ?? '', data: report })
    return report
  },
)
