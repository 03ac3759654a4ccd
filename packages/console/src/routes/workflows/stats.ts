// The statistics of a workflow as text.

import type { Calls } from '@perdure/client'

export type Stats = Calls['getWorkflowStats']['reply'][number]

/** Returns the share of ended runs that succeeded, with a digit if it is not whole. Returns an empty string if no run has ended. */
export function successText(stats: Pick<Stats, 'succeeded' | 'failed'> | undefined): string {
  if (!stats) return ''
  const ended = stats.succeeded + stats.failed
  if (ended === 0) return ''
  // Cut, not rounded: one failure in a million must not become 100 %.
  const permille = Math.floor((1000 * stats.succeeded) / ended)
  return `${permille % 10 === 0 ? permille / 10 : (permille / 10).toFixed(1)} %`
}
