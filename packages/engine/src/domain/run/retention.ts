// Retention: how long ended runs are kept, and with them what tells of them (`ENGINE_RETENTION`). Pure: config reads it,
// services/admin/prune goes by it.

import { parseDurationMs } from '@perdure/protocol'

export const ENDED_STATUSES = ['succeeded', 'failed', 'cancelled'] as const
export type EndedStatus = (typeof ENDED_STATUSES)[number]

/** Ms from the end of a run to its removal, by status; runs of a status left out are kept. Never empty. */
export type Retention = Partial<Record<EndedStatus, number>>

const DAY_MS = 86_400_000
/** Events stay this long at least: a repeat within the dedupe window finds what it repeats. */
const EVENTS_MS_MIN = DAY_MS
/**
 * A wait looks back to the creation of its run, so a live run keeps the events that came since. Not for ever: one that
 * sleeps for years would keep the whole log.
 */
export const EVENTS_HELD_MS_MAX = 90 * DAY_MS
/** Far beyond any use, and far below where times lose their exactness. */
const RETENTION_MS_MAX = 100 * 365 * DAY_MS

/** Reads `30d`, or `succeeded=7d,failed=90d`; undefined when it is neither. */
export function parseRetention(text: string): Retention | undefined {
  const all = retentionMs(text)
  if (all !== undefined) return { succeeded: all, failed: all, cancelled: all }
  const retention: Retention = {}
  for (const part of text.split(',')) {
    const [status = '', duration = '', ...rest] = part.split('=').map(word => word.trim())
    const ms = retentionMs(duration)
    if (ms === undefined || rest.length > 0 || !isEnded(status) || status in retention) return undefined
    retention[status] = ms
  }
  return retention
}

/** Which rows a batch removes. */
export type PrunedRows = `runs.${EndedStatus}` | 'events' | 'deliveries' | 'actions' | 'dedupes' | 'claims'

/** Rows of a kind that are older than a time. */
export interface Aged {
  rows: PrunedRows
  /** Runs that ended, deliveries that settled, events and actions that came, claims that were over before it. */
  before: number
}

/** What may go at `now`: claims whose window is over always, all else only under a retention. */
export function agedRows(retention: Retention | undefined, now: number): Aged[] {
  const over: Aged[] = [
    { rows: 'dedupes', before: now },
    { rows: 'claims', before: now },
  ]
  if (!retention) return over
  const runs = ENDED_STATUSES.flatMap((status): Aged[] => {
    const ms = retention[status]
    return ms === undefined ? [] : [{ rows: `runs.${status}`, before: now - ms }]
  })
  const longest = Math.max(...Object.values(retention))
  return [
    ...over,
    ...runs,
    { rows: 'deliveries', before: now - longest },
    { rows: 'events', before: now - Math.max(longest, EVENTS_MS_MIN) },
    { rows: 'actions', before: now - longest },
  ]
}

function isEnded(status: string): status is EndedStatus {
  return (ENDED_STATUSES as readonly string[]).includes(status)
}

function retentionMs(text: string): number | undefined {
  const ms = parseDurationMs(text)
  return ms !== undefined && ms > 0 && ms <= RETENTION_MS_MAX ? ms : undefined
}
