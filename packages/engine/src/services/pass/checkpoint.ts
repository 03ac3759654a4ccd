// The checkpoints of one pass: each is decided and committed like the end of a pass, and acknowledged with the results that the
// runner needs to continue. Made by pass-loop.ts, called by the transport.

import { runDeadline } from '../../domain/holds/timeouts.ts'
import { hasNewTurn } from '../../domain/holds/turns.ts'
import type { PassDecision } from '../../domain/model/decision.ts'
import { isSettled, type Step } from '../../domain/model/step.ts'
import { type Reported, readCheckpoint, type SentCheckpoint } from '../../domain/pass/answer/outcome.ts'
import type { ReportedRunning } from '../../domain/pass/answer/running.ts'
import { acknowledge, checkpoint, pendingProgress, turnsStarted, unchanged } from '../../domain/pass/checkpoint.ts'
import type { PassContext, SentPass } from '../../domain/pass/opcodes/context.ts'
import { progressWaitMs } from '../../domain/pass/progress.ts'
import type { Assumptions } from '../../domain/run/assumptions.ts'
import { isDue, type RunState } from '../../domain/run/state.ts'
import type { RunningStep } from '../../domain/view/running-step.ts'
import type { Clock } from '../../ports/clock.ts'
import { STREAM_MARK } from '../../ports/transport.ts'
import { type ActiveRun, deferProgress } from './active-run.ts'
import { StreamAppends, type StreamAppendsDeps } from './streams/stream-appends.ts'

export interface CheckpointsDeps {
  active: ActiveRun
  /** Number of the pass in its run. */
  number: number
  streams: StreamAppendsDeps
  /** The pass of the checkpoints; its `knowledge` is updated with each ack. */
  pass: SentPass
  clock: Clock
  /** Whether the engine has a reason to end the pass soon. */
  hasToEnd(): boolean
  /** Called for the steps of each durable checkpoint, even if the run has ended with it. */
  onStored(reported: Extract<Reported, { kind: 'opcodes' }>): void
  /** Called for each checkpoint that is durable. */
  onTaken(): void
  /** Called when the runner reported running steps, which are in `active`. */
  onRunning(): void
  context(assumptions: Assumptions): PassContext
  /** Makes a decision on the active run durable; undefined when the run is no longer this engine's. */
  settle(decide: (assumptions: Assumptions) => PassDecision): Promise<PassDecision | undefined>
  /** Pauses or ends the run if its budget is exceeded; false if it has ended. */
  isWithinBudgets(): Promise<boolean>
  /** Stores the steps of an ended run that must be undone; undefined when there are none, or it is too late. */
  storeLate(reported: Reported): Promise<{ steps: readonly Step[] } | undefined>
}

/**
 * Maximum checkpoints of a pass that are remembered. A checkpoint repeated after that is stored again as far as it has new
 * data.
 */
const REMEMBERED_MAX = 1000

/** The additional steps in an ack: their seqs are in (from, to]. */
interface SeqRange {
  from: number
  to: number
}

/** The outcome of a checkpoint. `obsolete`: the run has ended, or belongs to another engine. */
export type Taken = { kind: 'stored'; ack: string } | { kind: 'obsolete' } | { kind: 'unreadable'; problem: string }

const OBSOLETE: Taken = { kind: 'obsolete' }

export class Checkpoints {
  readonly #deps: CheckpointsDeps
  /** The ranges of the newest acks, by the checkpoint's seq. */
  #acked: Map<number, SeqRange> | undefined
  #underWay: Promise<unknown> | undefined
  #failure: { error: unknown } | undefined
  #isOver = false
  #stopDeadline: (() => void) | undefined
  #cancelProgress: (() => void) | undefined
  /** The highest seq of the accepted checkpoints. */
  #newestSeq = 0
  /** The ack of the last accepted checkpoint. */
  #lastAck: { seq: number; taken: Taken } | undefined
  /** Absent until a step appends to a stream. */
  #appends: StreamAppends | undefined
  /** The flush that waits for its turn. */
  #flush: Promise<Taken> | undefined
  /** The state at the last ack. */
  #acknowledged: RunState

  constructor(deps: CheckpointsDeps) {
    this.#deps = deps
    this.#acknowledged = deps.active.state
  }

  /** The run has ended, or belongs to another engine: nothing of this pass counts any more. */
  hasEnded = false

  /** For the transport: makes a checkpoint durable (see `InvokeCall.onCheckpoint`). Never rejects. */
  async take(payload: string): Promise<string | undefined> {
    const isAppend = payload.startsWith(STREAM_MARK)
    const taken = await (isAppend
      ? this.#append(payload.slice(STREAM_MARK.length))
      : this.#afterEarlier(() => this.#takeOnce(this.#read(payload))))
    return taken.kind === 'stored' ? taken.ack : undefined
  }

  /** The same for a checkpoint over HTTP, except that an unreadable one leaves the pass unchanged. Never rejects. */
  takeOverHttp(payload: string): Promise<Taken> {
    if (payload.startsWith(STREAM_MARK)) return this.#append(payload.slice(STREAM_MARK.length))
    return this.#afterEarlier(async () => {
      const checkpoint = this.#read(payload)
      const { reported } = checkpoint
      if (reported.kind === 'rejected') return { kind: 'unreadable', problem: reported.error.message }
      return this.#takeOnce(checkpoint)
    })
  }

  /**
   * Accepts no further checkpoints, because the reply has come. Resolves when none is under way; rejects when one could not be
   * stored, since the state of the run is then unknown.
   */
  async over(): Promise<void> {
    this.#isOver = true
    this.#stopDeadline?.()
    this.#cancelProgress?.()
    if (this.#underWay) await this.#underWay
    if (this.#failure) throw this.#failure.error
  }

  #afterEarlier(work: () => Promise<Taken>): Promise<Taken> {
    const taken = this.#inOrder(this.#underWay, work)
    this.#underWay = taken
    return taken
  }

  async #inOrder(earlier: Promise<unknown> | undefined, work: () => Promise<Taken>): Promise<Taken> {
    await earlier
    if (this.#isOver || this.hasEnded || this.#failure) return OBSOLETE
    try {
      return await work()
    } catch (error) {
      this.#failure = { error }
      return OBSOLETE
    }
  }

  #read(payload: string): SentCheckpoint {
    return readCheckpoint(payload, this.#deps.active.sent?.negotiated)
  }

  /** Appends that come while a commit of the pass is under way are stored together after it. */
  async #append(payload: string): Promise<Taken> {
    const { streams, active, number } = this.#deps
    this.#appends ??= new StreamAppends(streams, active, number)
    const received = this.#appends.receive(payload)
    this.#flush ??= this.#afterEarlier(() => this.#flushAppends())
    const flushed = await this.#flush
    return flushed.kind === 'stored' ? { kind: 'stored', ack: received.ack } : flushed
  }

  async #flushAppends(): Promise<Taken> {
    this.#flush = undefined
    const isStored = await this.#appends?.flush()
    const { active } = this.#deps
    // The run has ended, and its streams too. The appends of a late answer are not kept.
    const mayBeLate = isStored || (active.late ? await active.late.hasEnded : active.sent?.negotiated.cleanup)
    if (mayBeLate) return { kind: 'stored', ack: '' }
    this.hasEnded = true
    return OBSOLETE
  }

  /** Accepts each seq once. A repeated seq means that its ack was lost, and none of its content is stored again. */
  async #takeOnce(sent: SentCheckpoint): Promise<Taken> {
    const { seq, reported } = sent
    if (reported.kind === 'rejected') return this.#acknowledge(sent)
    if (this.#lastAck?.seq === seq) return this.#lastAck.taken
    const range = this.#acked?.get(seq)
    if (range) return this.#acknowledgeAgain(sent, range)
    this.#noteRunning(sent)
    await this.#noteStarts(sent)
    const taken = isNotice(sent) ? this.#acknowledgeNotice(seq) : await this.#acknowledge(sent)
    this.#lastAck = { seq, taken }
    return taken
  }

  /** Remembers the running steps, unless a later checkpoint came first. */
  #noteRunning({ seq, reported, running }: SentCheckpoint): void {
    const { active, clock, onRunning } = this.#deps
    if (running && seq > this.#newestSeq) {
      active.running = running.filter(({ id }) => !isOver(active.state.steps.get(id))).map(at(clock.now()))
      if (active.running.length > 0) onRunning()
    }
    if (!active.running || reported.kind !== 'opcodes') return
    const ended = new Set(reported.opcodes.map(({ id }) => id))
    active.running = active.running.filter(({ id }) => !ended.has(id))
  }

  /**
   * Stores the starts of turns while the callbacks run, because a turn counts from its start and not from the end of the pass.
   */
  async #noteStarts({ running = [] }: SentCheckpoint): Promise<void> {
    const { active, clock, settle } = this.#deps
    const decideStarts = () => turnsStarted(active.state, running, clock.now())
    if (decideStarts()) await settle(() => decideStarts() ?? unchanged(active.state, clock.now()))
  }

  /** Acknowledges a message that has only running steps. Nothing is stored. */
  #acknowledgeNotice(seq: number): Taken {
    const { active, hasToEnd } = this.#deps
    this.#newestSeq = Math.max(this.#newestSeq, seq)
    const stop = hasToEnd() || active.state.run.status === 'paused'
    return { kind: 'stored', ack: acknowledge({ seq, written: [], others: [], stop }) }
  }

  /**
   * The ack of an earlier checkpoint has the same steps again, as they were at the last ack. Steps that settled since come with
   * the next ack, in their order.
   */
  #acknowledgeAgain({ seq, reported }: SentCheckpoint, range: SeqRange): Taken {
    const { knowledge } = this.#deps.pass
    const rows = this.#rowsOf(reported).filter(step => !isSettled(step.status) || step.seq <= knowledge.seq)
    const others = [...this.#settledIn(range), ...rows]
    return { kind: 'stored', ack: acknowledge({ seq, written: [], others, stop: knowledge.stopRequested }) }
  }

  async #acknowledge({ seq, reported }: SentCheckpoint): Promise<Taken> {
    const { active, settle, context, hasToEnd, onStored, onTaken, isWithinBudgets, pass } = this.#deps
    // A later checkpoint overtook this one, and its progress is newer.
    if (seq <= this.#newestSeq) delete reported.progress
    this.#newestSeq = Math.max(this.#newestSeq, seq)
    const decided = await settle(assumptions => checkpoint(active.state, reported, context(assumptions)))
    if (decided && reported.kind === 'opcodes') onStored(reported)
    if (decided?.next !== 'pass') return this.#acknowledgeLate({ seq, reported }, decided === undefined)
    onTaken()
    if (active.state.run.budgets && !(await isWithinBudgets()))
      return this.#acknowledgeEnded(seq, decided.decision.steps)
    deferProgress(active, reported)
    this.#storeHeldLater()
    const range = { from: pass.knowledge.seq, to: active.state.lastStepSeq }
    this.#remember(seq, range)
    // Only a reload can show steps that were settled elsewhere.
    const settled = active.state !== this.#acknowledged ? this.#settledIn(range) : []
    this.#acknowledged = active.state
    const stop = hasToEnd() || active.state.run.status === 'paused' || this.#hasDueRetry()
    this.#updateKnowledge(stop)
    const others = [...settled, ...this.#rowsOf(reported)]
    return { kind: 'stored', ack: acknowledge({ seq, written: decided.decision.steps, others, stop }) }
  }

  /**
   * The run has ended. If it gets a cleanup, the pass may finish normally: further steps of it may succeed. An end at another
   * engine (`isForeign`) may be found here before the message about it arrives.
   */
  async #acknowledgeLate({ seq, reported }: SentCheckpoint, isForeign: boolean): Promise<Taken> {
    const { active, storeLate } = this.#deps
    const mayBeLate = active.late ? await active.late.hasEnded : isForeign && active.sent?.negotiated.cleanup
    const late = mayBeLate ? await storeLate(reported) : undefined
    if (late) return { kind: 'stored', ack: acknowledge({ seq, written: late.steps, others: [], stop: true }) }
    this.hasEnded = true
    return OBSOLETE
  }

  /** The checkpoint is stored, and it ended the run. If the run gets a cleanup, the pass may finish normally. */
  async #acknowledgeEnded(seq: number, written: readonly Step[]): Promise<Taken> {
    if (await this.#deps.active.late?.hasEnded)
      return { kind: 'stored', ack: acknowledge({ seq, written, others: [], stop: true }) }
    this.hasEnded = true
    return OBSOLETE
  }

  #remember(seq: number, range: SeqRange): void {
    this.#acked ??= new Map()
    this.#acked.set(seq, range)
    if (this.#acked.size <= REMEMBERED_MAX) return
    for (const oldest of this.#acked.keys()) return void this.#acked.delete(oldest)
  }

  /** Stores the waiting progress when it is due, unless a later checkpoint or the end of the pass stores it first. */
  #storeHeldLater(): void {
    const { active, clock } = this.#deps
    if (active.pendingProgress === undefined || this.#cancelProgress || this.#isOver) return
    this.#cancelProgress = clock.after(progressWaitMs(active.state.run, clock.now()), () => {
      this.#cancelProgress = undefined
      this.#underWay = this.#storeHeld(this.#underWay)
    })
  }

  async #storeHeld(earlier: Promise<unknown> | undefined): Promise<void> {
    await earlier
    const { active, settle, context } = this.#deps
    if (this.#isOver || this.hasEnded || this.#failure || active.pendingProgress === undefined) return
    try {
      const decided = await settle(assumptions => pendingProgress(active.state, context(assumptions)))
      if (!decided && !active.late) this.hasEnded = true
      deferProgress(active, {})
    } catch (error) {
      this.#failure = { error }
    }
  }

  /** Updates what the runner knows after an ack. */
  #updateKnowledge(stop: boolean): void {
    const { active, pass, clock } = this.#deps
    const { settledCount, lastStepSeq, run } = active.state
    pass.knowledge = {
      asOf: clock.now(),
      settled: settledCount,
      seq: lastStepSeq,
      wasSentSettled: pass.knowledge.wasSentSettled || settledCount > pass.knowledge.settled,
      stopRequested: stop,
    }
    // Every checkpoint restarts the transport's deadline, but not the run's.
    const deadline = runDeadline(run)
    if (deadline !== undefined && !this.#stopDeadline && !this.#isOver) {
      // A pass that may answer late has its own timer for that.
      this.#stopDeadline = clock.at(deadline, () => active.mayAnswerLate || active.abort.abort())
    }
  }

  /** A retry, or a step whose turn has come, needs a new pass: this one must end, however long it could continue. */
  #hasDueRetry(): boolean {
    const { active, clock } = this.#deps
    for (const step of active.state.open.values())
      if (hasNewTurn(step) || (step.status === 'retrying' && isDue(step, clock.now()))) return true
    return false
  }

  #settledIn({ from, to }: SeqRange): Step[] {
    const steps = [...this.#deps.active.state.steps.values()]
    return steps.filter(({ status, seq }) => isSettled(status) && seq > from && seq <= to)
  }

  /** The reported steps in their present state, including those that an earlier ack contained. */
  #rowsOf(reported: Reported): Step[] {
    if (reported.kind !== 'opcodes') return []
    const { steps } = this.#deps.active.state
    return reported.opcodes.map(({ id }) => steps.get(id)).filter(step => step !== undefined)
  }
}

const isOver = (step: Step | undefined) => step !== undefined && isSettled(step.status)

/** A reported step with the time at which its callback began. */
const at =
  (now: number) =>
  ({ id, name, startedMs }: ReportedRunning): Omit<RunningStep, 'index'> => ({
    id,
    name,
    startedAt: now - Math.round(startedMs),
  })

/** Whether the checkpoint has running steps and nothing else. */
function isNotice({ reported, running }: SentCheckpoint): boolean {
  if (!running || reported.kind !== 'opcodes') return false
  const { opcodes, logs, unread, attributes, progress } = reported
  return opcodes.length + logs.length === 0 && !unread && attributes === undefined && progress === undefined
}
