// The progress that a handler reports (docs/concepts.md#progress): which values are stored, and when. Called by advance.ts,
// checkpoint.ts and services/pass/checkpoint.

import { isTerminal, type Run } from '../model/run.ts'
import type { Draft } from '../run/draft.ts'
import type { JsonText } from '../text/json-text.ts'

/** Minimum time between two stored values while a run is under way. An earlier value waits. */
const PROGRESS_EVERY_MS = 200

/** Drafts the value, unless it is stored already or the run has ended: the frame of the end is the last one. */
export function storeProgress(draft: Draft, value: JsonText | undefined): void {
  if (value === undefined || value === draft.run.progress?.value || isTerminal(draft.run.status)) return
  draft.setProgress(value)
}

/** Drafts the value if it does not need to wait. */
export function storeDueProgress(draft: Draft, value: JsonText | undefined): void {
  if (value !== undefined && progressWaitMs(draft.run, draft.now) === 0) storeProgress(draft, value)
}

/** How long the next value waits. */
export function progressWaitMs({ progress }: Pick<Run, 'progress'>, now: number): number {
  const sinceMs = progress === undefined ? PROGRESS_EVERY_MS : now - progress.at
  // The clock was set back.
  if (sinceMs < 0) return 0
  return Math.max(0, PROGRESS_EVERY_MS - sinceMs)
}
