// The checkpoints of one pass: each is decided and committed like the end of a pass, and acknowledged with the results
// the runner needs to go on. Made by pass-loop.ts, called by the transport.

import { runDeadline } from '../../domain/holds/timeouts.ts'
import { hasNewTurn } from '../../domain/holds/turns.ts'
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
import type { Decided } from './settlement.ts'
import { StreamAppends, type StreamAppendsDeps } from './streams/stream-appends.ts'

export interface CheckpointsDeps {
  active: ActiveRun
  /** Number of the pass in its run. */
  number: number
  streams: StreamAppendsDeps
  /** The pass they belong to; its `knowledge` follows the acks. */
  pass: SentPass
  clock: Clock
  /** Whether the pass is to end soon, for a reason of the engine. */
  hasToEnd(): boolean
  /** Called for the steps of each checkpoint that is durable, also if the run has ended with it. */
  onStored(reported: Extract<Reported, { kind: 'opcodes' }>): void
  /** Called for each checkpoint that is durable. */
  onTaken(): void
  /** The runner reported which steps run; `active` has them. */
  onRunning(): void
  context(assumptions: Assumptions): PassContext
  /** Makes a decision on the active run durable; undefined when the run is no longer this engine's. */
  settle(decide: (assumptions: Assumptions) => Decided): Promise<Decided | undefined>
  /** Pauses or ends the run if its budget is exceeded; false if it has ended. */
  isWithinBudgets(): Promise<boolean>
  /** Stores what is to be undone of a run that was ended; undefined when there is nothing to, or no more. */
  storeLate(reported: Reported): Promise<{ steps: readonly Step[] } | undefined>
}

/** Most checkpoints of a pass that are remembered. One that is repeated later than that stores what is new in it. */
const REMEMBERED_MAX = 1000

/** The steps that an ack contained besides those it was for: their seqs are in (from, to]. */
interface SeqRange {
  from: number
  to: number
}

/** The outcome of a checkpoint. `obsolete`: the run has ended, or another engine has it. */
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
  /** The highest seq that was taken. */
  #newestSeq = 0
  /** The ack of the checkpoint that was taken last. */
  #lastAck: { seq: number; taken: Taken } | undefined
  /** Absent until a step appends to a stream. */
  #appends: StreamAppends | undefined
  /** The flush that waits for its turn. */
  #flush: Promise<Taken> | undefined
  /** The state that the last ack was about. */
  #acknowledged: RunState

  constructor(deps: CheckpointsDeps) {
    this.#deps = deps
    this.#acknowledged = deps.active.state
  }

  /** The run has ended, or another engine has it: nothing of this pass counts any more. */
  hasEnded = false

  /** For the transport: makes a checkpoint durable (see `InvokeCall.onCheckpoint`). Never rejects. */
  async take(payload: string): Promise<string | undefined> {
    const isAppend = payload.startsWith(STREAM_MARK)
    const taken = await (isAppend
      ? this.#append(payload.slice(STREAM_MARK.length))
      : this.#afterEarlier(() => this.#takeOnce(this.#read(payload))))
    return taken.kind === 'stored' ? taken.ack : undefined
  }

  /** The same for a checkpoint over HTTP: one that cannot be read leaves the pass as it is. Never rejects. */
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
   * The reply has come: takes no further checkpoint. Resolves when none is under way; rejects when one could not be
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
    // The run has ended: its streams too. What a late answer wrote is not kept.
    const mayBeLate = isStored || (active.late ? await active.late.hasEnded : active.sent?.negotiated.cleanup)
    if (mayBeLate) return { kind: 'stored', ack: '' }
    this.hasEnded = true
    return OBSOLETE
  }

  /** A seq that was taken before is a repeat, because its ack was lost: nothing of it is stored, whatever is in it. */
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

  /** Keeps which steps run, unless a later checkpoint has come before. */
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

  /** Turns count from the starts that the runner reports while the callbacks run, and not from the end of the pass. */
  async #noteStarts({ running = [] }: SentCheckpoint): Promise<void> {
    const { active, clock, settle } = this.#deps
    const decideStarts = () => turnsStarted(active.state, running, clock.now())
    if (decideStarts()) await settle(() => decideStarts() ?? unchanged(active.state, clock.now()))
  }

  /** Nothing is stored of a message that has only running steps. */
  #acknowledgeNotice(seq: number): Taken {
    const { active, hasToEnd } = this.#deps
    this.#newestSeq = Math.max(this.#newestSeq, seq)
    const stop = hasToEnd() || active.state.run.status === 'paused'
    return { kind: 'stored', ack: acknowledge({ seq, written: [], others: [], stop }) }
  }

  /**
   * The ack of an earlier checkpoint has the same steps again, as far as the last ack knew them: what settled since comes with the
   * next one, in its order.
   */
  #acknowledgeAgain({ seq, reported }: SentCheckpoint, range: SeqRange): Taken {
    const { knowledge } = this.#deps.pass
    const rows = this.#rowsOf(reported).filter(step => !isSettled(step.status) || step.seq <= knowledge.seq)
    const others = [...this.#settledIn(range), ...rows]
    return { kind: 'stored', ack: acknowledge({ seq, written: [], others, stop: knowledge.stopRequested }) }
  }

  async #acknowledge({ seq, reported }: SentCheckpoint): Promise<Taken> {
    const { active, settle, context, hasToEnd, onStored, onTaken, isWithinBudgets, pass } = this.#deps
    // It was overtaken by a later one, whose progress is newer.
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
    // Only a reload shows steps that others settled: without one there are none to find.
    const settled = active.state !== this.#acknowledged ? this.#settledIn(range) : []
    this.#acknowledged = active.state
    const stop = hasToEnd() || active.state.run.status === 'paused' || this.#hasDueRetry()
    this.#updateKnowledge(stop)
    const others = [...settled, ...this.#rowsOf(reported)]
    return { kind: 'stored', ack: acknowledge({ seq, written: decided.decision.steps, others, stop }) }
  }

  /**
   * The run has ended. If it is cleaned up after, the pass may end in its time: further steps of it may succeed. An end at another
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

  /** The checkpoint is stored, and the run has ended with it: the pass may end in its time if the run is cleaned up after. */
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

  /** Stores the progress that waits in its time, unless a later checkpoint or the end of the pass does. */
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

  /** The ack brings the runner up to date with the run. */
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
      // A pass that may answer late has a timer of its own for that.
      this.#stopDeadline = clock.at(deadline, () => active.mayAnswerLate || active.abort.abort())
    }
  }

  /** A retry, or a step whose turn has come, needs a pass of its own: this one has to end, however long it could go on. */
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

  /** The reported steps as they are now, those that an earlier ack contained too. */
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
