// A run under way on this engine: the data that the driver keeps from the run's lease until it parks or ends.

import type { Negotiated } from '../../domain/pass/answer/opcodes.ts'
import type { ReportedProgress } from '../../domain/pass/answer/outcome.ts'
import type { RunState } from '../../domain/run/state.ts'
import type { JsonText } from '../../domain/text/json-text.ts'
import type { Traceparent } from '../../domain/text/traceparent.ts'
import type { RunningStep } from '../../domain/view/running-step.ts'
import type { Span } from '../../ports/tracing.ts'
import type { Interrupt } from './interrupt.ts'
import type { PermitOwner } from './permits/engine-permits.ts'
import type { RunnerPermit } from './permits/runner-permits.ts'
import type { StreamingRun } from './streams/stream-appends.ts'
import type { Trial } from './suspects.ts'

export interface ActiveRun extends PermitOwner, StreamingRun {
  state: RunState
  /** When its lease was taken or last extended, by the monotonic clock. */
  leasedAt: number
  /** Aborts the invoke in flight. */
  abort: Interrupt
  /** Parent of the run's spans. */
  trace?: Traceparent
  /** Span of this stretch of the run, where the engine traces. */
  span?: Span | undefined
  /** The `traceparent` that the runner of the newest pass got. */
  passTrace?: Traceparent
  /** Made with the first pass. */
  envelope?: Envelope
  /** The run that a cleanup run follows, as its invokes carry it. Read before the first pass. */
  followed?: JsonText
  /** Where and when its last pass was sent; undefined while the next pass waits for room on a runner. */
  sent?: { runnerId: string; sentAt: number; negotiated: Negotiated } | undefined
  /** Number of the newest pass that was sent under this lease. */
  passes?: number
  /** The newest progress of its handler that is not stored yet (domain/pass/progress). */
  pendingProgress?: JsonText | undefined
  /** The steps of its pass that its runner reported as running. */
  running?: Omit<RunningStep, 'index'>[] | undefined
  /** Present if its pass is that of a suspect. */
  trial?: Trial | undefined
  /** The runner of the pass under way may answer even if the run was ended (late-answers.ts). */
  mayAnswerLate?: boolean
  /** Notifies the runner of such a pass of the end of its run; absent where the transport has no message for that. */
  cancelPass?: (() => void) | undefined
  /** Present if the run was ended while such a pass was under way. */
  late?: LatePass | undefined
  /** The permit of a runner for its next pass. */
  runnerPermit?: RunnerPermit | undefined
  /** Called when the run is no longer under way here. */
  whenOver?: (() => void)[]
  /** Gives back the memory of a large answer that is not stored yet. */
  releaseAnswer?: (() => void) | undefined
}

/** A pass that may still answer although its run was ended. */
export interface LatePass {
  /** Resolves to whether the run has ended and gets a cleanup. */
  hasEnded: Promise<boolean>
  /** Ends the time for the answer. */
  close(): void
}

/** Keeps the newest progress until a commit of the run has stored it. */
export function deferProgress(active: ActiveRun, { progress = active.pendingProgress }: ReportedProgress): void {
  if (progress === undefined) return
  active.pendingProgress = progress === active.state.run.progress?.value ? undefined : progress
}

/** The parts that all invoke requests of a run have in common, as text. */
export interface Envelope {
  event: string
  ctx: string
  /** Whether the context offers that an answer with the end may contain steps. */
  endWithSteps: boolean
  /** Whether its context has the URL and the key of the run's callbacks. */
  callbacks: boolean
  /** Whether the event contains the events that a batch collected. */
  batchEvents: boolean
}
