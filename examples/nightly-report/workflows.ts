// A report every night at three, sent as a webhook.

import { createWorkflow, type WorkflowArgs } from 'perdure'
import { salesBefore } from './sales.ts'

export interface Schedule {
  cron: string
  /** The time that this run is for, RFC 3339. The run itself may be later. */
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
    // Use this time and not the clock: a report that is late, or replayed, is still the report of its night.
    const { scheduledAt } = event.data
    const totals = await step.run('sum up', () => salesBefore(new Date(scheduledAt)))
    const report = { scheduledAt, ...totals }
    // Stored with this step and posted by the engine until it is accepted: 8 attempts over 27 hours.
    await ctx.webhook.send('send report', { url: process.env.REPORT_URL ?? '', data: report })
    return report
  },
)
