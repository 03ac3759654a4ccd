// The statistics of a workflow as text.

import type { Calls } from '@perdure/client'

export type Stats = Calls['getWorkflowStats']['reply'][number]

/** The share of ended runs that succeeded, with a digit where it is not whole; nothing without an ended run. */
export function successText(stats: Pick<Stats, 'succeeded' | 'failed'> | undefined): string {
  if (!stats) return ''
  const ended = stats.succeeded + stats.failed
  if (ended === 0) return ''
  // Cut, not rounded: one failure of a million must not be 100 %.
  const permille = Math.floor((1000 * stats.succeeded) / ended)
  return `${permille % 10 === 0 ? permille / 10 : (permille / 10).toFixed(1)} %`
}
