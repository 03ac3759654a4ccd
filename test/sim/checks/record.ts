// What the checkers know of one run: what was read of it when all was last still, and what was learnt on the way.

import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import type { StoredFrame } from '../../../packages/engine/src/domain/view/timeline-frames.ts'
import type { RunView } from '../../../packages/engine/src/ports/store-reads.ts'
import type { MemoEntry } from '../workload/wire.ts'

export interface RunRecord {
  namespace: string
  id: string
  /** Absent until it was first read. */
  run?: RunView
  steps: readonly Step[]
  /** Every frame read so far, page by page. */
  frames: StoredFrame[]
  openFrom: number
  /** Frames that streams were told of without reading, since they were last held against the stored ones. */
  told: StoredFrame[]
  /** Time of the last frame that was decided on all before it. */
  lastTs: string
  terminalSince?: number
  /** Passes sent while it was known to be paused. */
  sentWhilePaused: number
  /** Checkpoints answered without a stop while it was known to be paused. */
  wentOnWhilePaused: number
  /** Settled entries that invokes of this run, and acks, have carried. */
  memo: Map<string, MemoEntry>
  /** Their step ids, in the order in which they were told. */
  order: readonly string[]
  lastAttempt: number
}

export function newRecord(namespace: string, id: string): RunRecord {
  return {
    namespace,
    id,
    steps: [],
    frames: [],
    openFrom: 0,
    told: [],
    lastTs: '',
    sentWhilePaused: 0,
    wentOnWhilePaused: 0,
    memo: new Map(),
    order: [],
    lastAttempt: 0,
  }
}

const TERMINAL = ['succeeded', 'failed', 'cancelled']
const SETTLED = ['succeeded', 'failed', 'cancelled']

/** Contract 3: these statuses never change. */
export function isEnded(run: { status: string } | undefined): boolean {
  return run !== undefined && TERMINAL.includes(run.status)
}

export function isDone(step: { status: string }): boolean {
  return SETTLED.includes(step.status)
}
