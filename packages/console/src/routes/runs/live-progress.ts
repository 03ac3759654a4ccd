// The newest progress of the runs in the list. Rows do not have it: it arrives with the stream, and is kept for the way back to
// the list.

import type { Item } from '../../data/queries.ts'
import type { LiveFrame } from '../../live/use-live.ts'
import { ENDED } from '../../ui/status.tsx'

/** Maximum number of runs whose progress is kept. The oldest report is dropped. */
const KEPT_MAX = 5000

const newest = new Map<string, { seq: number; source: string }>()

/** Keeps the progress in a batch. Returns whether there was any. */
export function noteProgress(frames: readonly LiveFrame[]): boolean {
  let isNew = false
  for (const { kind, runId, seq = 0, value } of frames) {
    if (kind !== 'progress' || runId === undefined || seq < (newest.get(runId)?.seq ?? 0)) continue
    newest.delete(runId)
    newest.set(runId, { seq, source: String(value) })
    isNew = true
  }
  for (const runId of newest.keys()) {
    if (newest.size <= KEPT_MAX) break
    newest.delete(runId)
  }
  return isNew
}

/** Returns the JSON text of the progress of a run that has not ended. */
export function progressOf({ id, status }: Pick<Item<'listRuns'>, 'id' | 'status'>): string | undefined {
  return ENDED.includes(status) ? undefined : newest.get(id)?.source
}
