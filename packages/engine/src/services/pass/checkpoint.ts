// The checkpoints of one pass: each is decided and committed like the end of a pass, and acknowledged with the results
// the runner needs to go on. Made by pass-loop.ts, called by the transport.

import { runDeadline } from '../../domain/holds/timeouts.ts'
import { isSettled, type Step } from '../../domain/model/step.ts'
import { type Reported, readCheckpoint } from '../../domain/pass/answer/outcome.ts'
import { acknowledge, checkpoint, heldProgress } from '../../domain/pass/checkpoint.ts'
import type { PassContext, SentPass } from '../../domain/pass/opcodes/context.ts'
import { progressWaitMs } from '../../domain/pass/progress.ts'
import type { Assumptions } from '../../domain/run/assumptions.ts'
import { isDue, type RunState } from '../../domain/run/state.ts'
import type { Clock } from '../../ports/clock.ts'
import { type ActiveRun, holdProgress } from './active-run.ts'
import type { Decided } from './settlement.ts'

export interface CheckpointsDeps {
  active: ActiveRun
  /** The pass they belong to; its `knowledge` follows the acks. */
  pass: SentPass
  clock: Clock
  isDraining(): boolean
  /** Called for each checkpoint that is durable. */
  onTaken(): void
  context(assumptions: Assumptions): PassContext
  /** Makes a decision on the active run durable; undefined when the run is no longer this engine's. */
  settle(decide: (assumptions: Assumptions) => Decided): Promise<Decided | undefined>
}

type Sent = ReturnType<typeof readCheckpoint>

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
  /** The range of each ack that contained any, by the checkpoint's seq. The run's steps bound the size. */
  #acked: Map<number, SeqRange> | undefined
  #underWay: Promise<unknown> | undefined
  #failure: { error: unknown } | undefined
  #isOver = false
  #stopDeadline: (() => void) | undefined
  #cancelProgress: (() => void) | undefined
  /** The highest seq that was taken: a checkpoint that is repeated brings no new progress. */
  #newestSeq = 0
  /** The outcome of the newest checkpoint over HTTP. */
  #newestAck: { seq: number; taken: Taken } | undefined
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
    const taken = await this.#afterEarlier(() => this.#acknowledge(this.#read(payload)))
    return taken.kind === 'stored' ? taken.ack : undefined
  }

  /**
   * The same for a checkpoint over HTTP: one that cannot be read leaves the pass as it is, and the newest one gets the same
   * acknowledgement when it comes again, whatever is in it. Never rejects.
   */
  takeOverHttp(payload: string): Promise<Taken> {
    return this.#afterEarlier(async () => {
      const checkpoint = this.#read(payload)
      const { seq, reported } = checkpoint
      if (reported.kind === 'rejected') return { kind: 'unreadable', problem: reported.error.message }
      if (this.#newestAck?.seq === seq) return this.#newestAck.taken
      const taken = await this.#acknowledge(checkpoint)
      if (seq >= this.#newestSeq) this.#newestAck = { seq, taken }
      return taken
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

  #read(payload: string): Sent {
    return readCheckpoint(payload, this.#deps.active.sent?.negotiated)
  }

  async #acknowledge({ seq, reported }: Sent): Promise<Taken> {
    const { active, settle, context, isDraining, onTaken, pass } = this.#deps
    const repeated = this.#acked?.get(seq)
    // A repeat, because its ack was lost: its log lines are stored already.
    if (repeated) reported.logs = []
    if (seq <= this.#newestSeq) delete reported.progress
    this.#newestSeq = Math.max(this.#newestSeq, seq)
    const decided = await settle(assumptions => checkpoint(active.state, reported, context(assumptions)))
    if (decided?.next !== 'pass') {
      this.hasEnded = true
      return OBSOLETE
    }
    onTaken()
    holdProgress(active, reported)
    this.#storeHeldLater()
    const range = repeated ?? { from: pass.knowledge.seq, to: active.state.lastStepSeq }
    if (range.to > range.from) {
      this.#acked ??= new Map()
      this.#acked.set(seq, range)
    }
    // Only a reload shows steps that others settled: without one there are none to find.
    const settled = repeated || active.state !== this.#acknowledged ? this.#settledIn(range) : []
    this.#acknowledged = active.state
    const stop = isDraining() || active.state.run.status === 'paused' || this.#hasDueRetry()
    this.#updateKnowledge(stop)
    const others = [...settled, ...this.#rowsOf(reported)]
    return { kind: 'stored', ack: acknowledge({ seq, written: decided.decision.steps, others, stop }) }
  }

  /** Stores the progress that waits in its time, unless a later checkpoint or the end of the pass does. */
  #storeHeldLater(): void {
    const { active, clock } = this.#deps
    if (active.heldProgress === undefined || this.#cancelProgress || this.#isOver) return
    this.#cancelProgress = clock.after(progressWaitMs(active.state.run, clock.now()), () => {
      this.#cancelProgress = undefined
      this.#underWay = this.#storeHeld(this.#underWay)
    })
  }

  async #storeHeld(earlier: Promise<unknown> | undefined): Promise<void> {
    await earlier
    const { active, settle, context } = this.#deps
    if (this.#isOver || this.hasEnded || this.#failure || active.heldProgress === undefined) return
    try {
      const decided = await settle(assumptions => heldProgress(active.state, context(assumptions)))
      if (!decided) this.hasEnded = true
      holdProgress(active, {})
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
      const { abort } = active
      this.#stopDeadline = clock.at(deadline, () => abort.abort())
    }
  }

  /** A retry needs a pass of its own: this one has to end, however long it could go on. */
  #hasDueRetry(): boolean {
    const { active, clock } = this.#deps
    for (const step of active.state.open.values()) if (isDue(step, clock.now())) return true
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
