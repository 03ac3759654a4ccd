// The run_status frames that a change tells, from the same rows and seqs as the stored timeline. Read by whoever
// follows all runs of a namespace as they move.

import type { Change, RunStatusFrame } from '../model/change.ts'
import { isTerminal } from '../model/run.ts'
import { firstSeq } from '../model/seq.ts'

/** In order of seq. */
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
  // A run that has ended moves no more: if it has, it did so here.
  const { finishedSeq: seq, finishedAt: ts, status, attempt } = run
  if (isTerminal(status) && seq !== undefined && ts !== undefined) frames.push({ seq, ts, status, attempt })
  return frames.sort((a, b) => a.seq - b.seq)
}
