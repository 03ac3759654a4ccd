// The figures about the runs of a list (docs/http-api/runs.md#runstats).

import type { RunStats } from '@perdure/protocol'
import type { RunStatus } from '../model/run.ts'

/** Paused and cancelled runs count only in the total. */
export function runStats(counts: Readonly<Record<RunStatus, number>>): RunStats {
  const { queued, running, waiting, succeeded, failed } = counts
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return {
    total,
    active: queued + running + waiting,
    succeeded,
    failed,
    successRate: successRate(succeeded, failed),
    failedRate: failedRate(succeeded, failed),
  }
}

/** Rounded to the next whole percent, halves up. 100 therefore does not mean that nothing failed. */
function successRate(succeeded: number, failed: number): number {
  const ended = succeeded + failed
  return ended === 0 ? 100 : Math.round((100 * succeeded) / ended)
}

/**
 * Rounded to the next hundredth of a percent. One failure among millions of successes is not rounded to 0, and one success
 * among millions of failures not to 100.
 */
function failedRate(succeeded: number, failed: number): number {
  if (failed === 0) return 0
  if (succeeded === 0) return 100
  const hundredths = Math.round((10_000 * failed) / (succeeded + failed))
  return Math.min(Math.max(hundredths, 1), 9999) / 100
}
