// The checkpoints of one pass: each is decided and committed like the end of a pass, and answered with what the runner
// may go on with. Made by services/pass/drive, called by the transport.

import { runDeadline } from '../../domain/holds/timeouts.ts'
import type { Decision, Next } from '../../domain/model/decision.ts'
import { isSettled, type Step } from '../../domain/model/step.ts'
import { acknowledge, checkpoint } from '../../domain/pass/checkpoint.ts'
import type { PassContext, SentPass } from '../../domain/pass/opcodes/context.ts'
import { type Reported, readCheckpoint } from '../../domain/pass/outcome.ts'
import type { Assumptions } from '../../domain/run/assumptions.ts'
import { isDue } from '../../domain/run/state.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Active } from './invoke.ts'

interface Decided {
  decision: Decision
  next: Next
}

export interface CheckpointsDeps {
  active: Active
  /** The pass they belong to; its `told` follows the acks. */
  pass: SentPass
  clock: Clock
  isDraining(): boolean
  /** Told of each that is durable. */
  onTaken(): void
  context(assumptions: Assumptions): PassContext
  /** Makes a decision on the active run durable; undefined when the run is no longer ours. */
  settle(decide: (assumptions: Assumptions) => Decided): Promise<Decided | undefined>
}

/** Which steps an ack told of: those whose seq is in (from, to]. */
interface ToldRange {
  from: number
  to: number
}

export class Checkpoints {
  readonly #deps: CheckpointsDeps
  /** By the checkpoint's seq; only of those that told something, which a run's steps bound. */
  #told: Map<number, ToldRange> | undefined
  #underWay: Promise<unknown> | undefined
  #failure: { error: unknown } | undefined
  #isOver = false
  #stopDeadline: (() => void) | undefined

  constructor(deps: CheckpointsDeps) {
    this.#deps = deps
  }

  /** The run has ended, or is another's: its pass is of no use any more. */
  hasEnded = false

  /** For the transport: makes a checkpoint durable (see `InvokeCall.onCheckpoint`). Never rejects. */
  take(payload: string): Promise<string | undefined> {
    const answered = this.#inTurn(payload)
    this.#underWay = answered
    return answered
  }

  /**
   * The reply is there: no further checkpoint is taken. Resolves when none is under way; rejects when one could not be
   * stored, so that nobody knows where the run stands.
   */
  async over(): Promise<void> {
    this.#isOver = true
    this.#stopDeadline?.()
    if (this.#underWay) await this.#underWay
    if (this.#failure) throw this.#failure.error
  }

  async #inTurn(payload: string): Promise<string | undefined> {
    await this.#underWay
    if (this.#isOver || this.hasEnded || this.#failure) return undefined
    try {
      return await this.#answer(payload)
    } catch (error) {
      this.#failure = { error }
      return undefined
    }
  }

  async #answer(payload: string): Promise<string | undefined> {
    const { active, pass, settle, context, isDraining, onTaken } = this.#deps
    const { seq, reported } = readCheckpoint(payload)
    const repeated = this.#told?.get(seq)
    // Sent again, since its ack was lost: its log lines are stored.
    if (repeated) reported.logs = []
    const before = active.state
    const decided = await settle(assumptions => checkpoint(active.state, reported, context(assumptions)))
    if (decided?.next !== 'pass') {
      this.hasEnded = true
      return undefined
    }
    onTaken()
    const range = repeated ?? { from: pass.knowledge.seq, to: active.state.lastStepSeq }
    if (range.to > range.from) {
      this.#told ??= new Map()
      this.#told.set(seq, range)
    }
    // Only a reload shows what settled from outside: without one there is nothing to search for.
    const settled = repeated || active.state !== before ? this.#settledIn(range) : []
    const stop = isDraining() || active.state.run.status === 'paused' || this.#hasDueRetry()
    this.#tell(stop)
    const others = [...settled, ...this.#rowsOf(reported)]
    return acknowledge({ seq, written: decided.decision.steps, others, stop })
  }

  /** From now on the runner knows all there is. */
  #tell(stop: boolean): void {
    const { active, pass, clock } = this.#deps
    const { settledCount, lastStepSeq, run } = active.state
    pass.knowledge = {
      asOf: clock.now(),
      settled: settledCount,
      seq: lastStepSeq,
      hasMoved: pass.knowledge.hasMoved || settledCount > pass.knowledge.settled,
      stop,
    }
    // The transport's deadline begins anew with every checkpoint; that of the run does not.
    const deadline = runDeadline(run)
    if (deadline !== undefined && !this.#stopDeadline && !this.#isOver) {
      const { abort } = active
      this.#stopDeadline = clock.at(deadline, () => abort.abort())
    }
  }

  /** A retry is offered by a pass of its own: this one ends, however long it could go on. */
  #hasDueRetry(): boolean {
    const { active, clock } = this.#deps
    for (const step of active.state.open.values()) if (isDue(step, clock.now())) return true
    return false
  }

  #settledIn({ from, to }: ToldRange): Step[] {
    const steps = [...this.#deps.active.state.steps.values()]
    return steps.filter(({ status, seq }) => isSettled(status) && seq > from && seq <= to)
  }

  /** The steps that were reported, as they are now: also those it told of before. */
  #rowsOf(reported: Reported): Step[] {
    if (reported.kind !== 'opcodes') return []
    const { steps } = this.#deps.active.state
    return reported.opcodes.map(({ id }) => steps.get(id)).filter(step => step !== undefined)
  }
}
