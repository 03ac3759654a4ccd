// Retention: how long ended runs, events, deliveries and audit entries are kept (`ENGINE_RETENTION`). config parses it,
// services/admin/prune applies it.

import { parseTextMs, TERMINAL_STATUSES } from '@perdure/protocol'
import type { EndedStatus } from '../model/run.ts'
import type { Retention } from '../model/workflow.ts'
import { SPAN_KEPT_MS } from '../view/rollup-span.ts'

const DAY_MS = 86_400_000
/** Minimum retention of events: a repeat within the dedupe window must find the event that it repeats. */
const EVENTS_MS_MIN = DAY_MS
/**
 * A wait looks back to the creation of its run, so a live run keeps the events received since then, but no longer than this:
 * otherwise a run that sleeps for years would keep the whole log.
 */
export const EVENTS_KEPT_MS_MAX = 90 * DAY_MS
/** Maximum retention: beyond any use, and below the range where times lose precision. */
export const RETENTION_MS_MAX = 100 * 365 * DAY_MS

/** Parses `30d`, or `succeeded=7d,failed=90d`; undefined for any other text. */
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

/** The kind of rows that a batch removes. */
export type PrunedRows =
  | `runs.${EndedStatus}`
  /** Runs whose workflow sets a retention. */
  | 'runs.ofWorkflow'
  | 'events'
  | 'deliveries'
  | 'actions'
  /** The messages of output streams whose run has ended. */
  | 'streams'
  | 'dedupes'
  | 'claims'
  | 'rollups.5m'
  | 'rollups.1h'

/** Rows of a kind that are older than a time. */
export interface Aged {
  rows: PrunedRows
  /**
   * The time (epoch ms) before which runs ended (runs of a workflow with a retention: had their time), streams were last
   * written to, deliveries settled, events and actions arrived, claims expired and roll-ups began.
   */
  before: number
}

export interface Retentions {
  retention?: Retention | undefined
  /** How long the messages of output streams are kept. Absent: as long as their run. */
  streamRetentionMs?: number | undefined
}

/**
 * The rows that may be removed at `now`. Rows with their own expiry are always removed, all others only under the engine's
 * retention.
 */
export function agedRows({ retention, streamRetentionMs }: Retentions, now: number): Aged[] {
  const over: Aged[] = [
    { rows: 'dedupes', before: now },
    { rows: 'claims', before: now },
    { rows: 'runs.ofWorkflow', before: now },
    { rows: 'rollups.5m', before: now - SPAN_KEPT_MS['5m'] },
    { rows: 'rollups.1h', before: now - SPAN_KEPT_MS['1h'] },
  ]
  if (streamRetentionMs !== undefined) over.push({ rows: 'streams', before: now - streamRetentionMs })
  if (!retention) return over
  const runs = TERMINAL_STATUSES.flatMap((status): Aged[] => {
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
  return (TERMINAL_STATUSES as readonly string[]).includes(status)
}

function retentionMs(text: string): number | undefined {
  const ms = parseTextMs(text)
  return ms !== undefined && ms > 0 && ms <= RETENTION_MS_MAX ? ms : undefined
}
