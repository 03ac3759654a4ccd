// Derives the run_status frames of a change, from the same rows and seqs as the stored timeline. The stream of all runs
// of a namespace sends them.

import type { Change, RunStatusFrame } from '../model/change.ts'
import { isTerminal } from '../model/run.ts'
import { firstSeq } from '../model/seq.ts'

/** The frames, in order of seq. */
export function statusFrames(
  change: Extract<Change, { type: 'run.created' | 'run.moved' }>,
): RunStatusFrame[] {
  const { run } = change
  const isNew = change.type === 'run.created'
  const frames = isNew
    ? [{ seq: firstSeq(0), ts: run.createdAt, status: 'queued' as const, attempt: 1 }]
    : [...change.frames]
  if (isNew || change.started) {
    const { startedSeq: seq, startedAt: ts } = run
    if (seq !== undefined && ts !== undefined) frames.push({ seq, ts, status: 'running', attempt: 1 })
  }
  // A run that has ended never moves again, so this change ended it.
  const { finishedSeq: seq, finishedAt: ts, status, attempt } = run
  if (isTerminal(status) && seq !== undefined && ts !== undefined) frames.push({ seq, ts, status, attempt })
  return frames.sort((a, b) => a.seq - b.seq)
}
