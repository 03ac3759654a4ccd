// Which workflows to look at first: those that fail, then those that have become slower than in the previous window. Pure.

import type { Calls } from '@perdure/client'

type Stats = Calls['getWorkflowStats']['reply'][number]

/** A workflow with its 95th percentile in the previous window. */
export interface Compared<Row> {
  row: Row
  beforeMs?: number | undefined
  /** The factor by which runs take longer than before; 1 within the error of percentiles, and if one is missing. */
  change: number
}

/** Each percentile may be wrong by 9 %: two that differ by less than this may be the same. */
const NOISE = 1.2

/**
 * Returns the workflows with the most failures first, then those that have slowed down by the largest factor, then the slowest.
 */
export function byTrouble<Row extends Pick<Stats, 'app' | 'workflow' | 'failed' | 'p95Ms'>>(
  rows: readonly Row[],
  before: readonly Pick<Stats, 'app' | 'workflow' | 'p95Ms'>[],
): Compared<Row>[] {
  const keyOf = ({ app, workflow }: Pick<Stats, 'app' | 'workflow'>) => `${app}\n${workflow}`
  const earlier = new Map(before.map(row => [keyOf(row), row.p95Ms]))
  return rows
    .map(row => {
      const beforeMs = earlier.get(keyOf(row))
      return { row, beforeMs, change: changeOf(row.p95Ms, beforeMs) }
    })
    .sort((a, b) => b.row.failed - a.row.failed || b.change - a.change || (b.row.p95Ms ?? 0) - (a.row.p95Ms ?? 0))
}

function changeOf(nowMs: number | undefined, beforeMs: number | undefined): number {
  if (nowMs === undefined || beforeMs === undefined) return 1
  // A percentile of zero means that runs take less than half a millisecond.
  const change = Math.max(nowMs, 1) / Math.max(beforeMs, 1)
  return change < NOISE && change > 1 / NOISE ? 1 : change
}

/** Formats a factor as `+40 %` or `−30 %`, and from 2 on as `×3.2`. Returns an empty string for a factor of 1. */
export function changeText(change: number): string {
  if (change === 1) return ''
  if (change >= 2) return `×${change < 10 ? change.toFixed(1) : Math.round(change)}`
  const percent = Math.round(Math.abs(change - 1) * 100)
  return change > 1 ? `+${percent} %` : `−${percent} %`
}

/** Returns the window that ends where a window begins, with the same length. */
export function windowBefore(from: string | undefined, nowMs: number): { since: string; until: string } | undefined {
  if (from === undefined) return undefined
  const fromMs = Date.parse(from)
  // Cut to its minute, like the window itself, so that the read can be cached.
  const since = Math.floor((2 * fromMs - nowMs) / 60_000) * 60_000
  return { since: new Date(since).toISOString(), until: from }
}
