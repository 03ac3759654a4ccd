// The checkers' record of one run: its state when the engine was last idle, and everything observed since.

import type { Step } from '../../../packages/engine/src/domain/model/step.ts'
import type { StoredFrame } from '../../../packages/engine/src/domain/view/timeline-frames.ts'
import type { RunView } from '../../../packages/engine/src/ports/store-reads.ts'
import type { Wall } from '../ports/life.ts'
import type { MemoEntry } from '../workload/wire.ts'

export interface RunRecord {
  namespace: string
  id: string
  /** The events that were committed before the run was created. Its waits do not look back at them. */
  earlierEvents: ReadonlySet<string>
  /** Absent until the run was first read. */
  run?: RunView
  steps: readonly Step[]
  /** Every frame read so far, page by page. */
  frames: StoredFrame[]
  openFrom: number
  /** Frames that were sent to streams without a read of the store, since the last comparison with the stored frames. */
  sentFrames: StoredFrame[]
  /** Time of the last frame that was decided with knowledge of all earlier frames. */
  lastTs: string
  terminalSince?: number
  /** Passes sent while the run was paused. */
  sentWhilePaused: number
  /** Checkpoints answered without `stop` while the run was paused. */
  wentOnWhilePaused: number
  /** Settled entries that invokes and acks of this run have carried. */
  memo: Map<string, MemoEntry>
  /** Their step ids, in the order of carrying. */
  order: readonly string[]
  lastAttempt: number
  /** When a timeout was committed, in simulation time, by step index. */
  timedOutAt: Map<number, number>
  /** The clock by which the engine writes times: once it was set, times cannot be compared any more. */
  wall: Wall
}

export function newRecord(options: Pick<RunRecord, 'namespace' | 'id' | 'earlierEvents' | 'wall'>): RunRecord {
  return {
    ...options,
    steps: [],
    frames: [],
    openFrom: 0,
    sentFrames: [],
    lastTs: '',
    sentWhilePaused: 0,
    wentOnWhilePaused: 0,
    memo: new Map(),
    order: [],
    lastAttempt: 0,
    timedOutAt: new Map(),
  }
}

const TERMINAL = ['succeeded', 'failed', 'cancelled']
const SETTLED = ['succeeded', 'failed', 'cancelled']

/** Kinds of steps that somebody other than the run's engine settles. */
export const SETTLED_OUTSIDE: ReadonlySet<Step['op']> = new Set([
  'WaitForEvent',
  'WaitForCallback',
  'WaitForRun',
  'WaitForSignal',
  'RunWorkflow',
])

/** Statuses that never change again. */
export function isEnded(run: { status: string } | undefined): boolean {
  return run !== undefined && TERMINAL.includes(run.status)
}

/** Whether the run waits until another run gives up its slot. */
export function waitsForSlot({ status, waitingFor }: Pick<RunView, 'status' | 'waitingFor'>): boolean {
  return status === 'queued' && waitingFor?.kind === 'concurrency'
}

/** Whether the run was ended from outside. A pass under way may then still add steps to undo. */
export function mayAnswerLate(run: Pick<RunView, 'status'> | undefined): boolean {
  return run?.status === 'cancelled'
}

/** Whether the step's attempts are spent in a workflow that pauses in this case. Resuming the run retries the step. */
export function isSpent(step: Pick<Step, 'status' | 'attempt' | 'spentAt'>): boolean {
  return step.status === 'failed' && step.spentAt === step.attempt
}

export function isDone(step: { status: string }): boolean {
  return SETTLED.includes(step.status)
}
