// One pass: runs the handler from its start against the memo, until the handler settles or is stuck. Called by
// invoke.ts.
//
// A handler is stuck when it waits for a step that has not settled, and nothing else makes it continue. A program cannot
// see what a promise waits for, so the pass uses these rules:
//   - a handler that settles ends the pass at once;
//   - while every step that the handler called has settled, the pass waits for the handler, however long its own I/O
//     takes;
//   - once the handler has called a step that has not settled, the pass ends when all callbacks it started have settled,
//     no checkpoint is under way, and one whole turn of the event loop had no further activity.
// A branch that awaits I/O outside of steps while another step is outstanding is therefore cut off, and a later pass
// runs it again: I/O belongs in steps. Steps that such a branch calls after the end of the pass are not executed.
//
// With checkpoints the pass continues after the steps it discovers. The result of a callback, an emit or a webhook is
// reported one turn of the event loop later, together with all other steps that are ready by then, and its call settles
// when the receipt arrives. Sleeps, waits and children are reported with the next such step, or at the end of the pass.
// If callbacks run, which may take long, they are reported without waiting for these.
//
// With `handsOver` the handler gets the results of finished steps before they are stored, all at once, as soon as no
// callback runs and nothing else is outstanding. No callback starts then until they are stored: a handler that calls
// one has them reported by a checkpoint, or ends the pass. A handler that returns first ends the run in the answer that
// carries them. They are reported in the order in which the handler got them, which is the order of every replay.
//
// A pass that settles may have discovered steps whose promises nobody awaits. A return keeps the steps with an effect
// (206 now, 200 on the next pass), a retriable throw keeps the finished callbacks, a fatal throw keeps nothing.

import { AsyncResource } from 'node:async_hooks'
import { type MemoEntry, STEPS_MAX } from '@perdure/protocol'
import { isFatal, NondeterminismError, NonRetriableError } from '../wire/errors.ts'
import { encodePayload } from '../wire/json.ts'
import { lossOf } from '../wire/lossy.ts'
import { asReported, type Checkpoints, UnreportedError } from './checkpoints.ts'
import { Discoveries, type Discovery, type StartOfCallback } from './discoveries.ts'
import type { Memo, Settlement } from './memo.ts'
import { type EncodedOpcode, OPCODE_RULES } from './opcode.ts'
import { scopeWithin } from './pass-scope.ts'
import { ProgressTimer } from './progress-timer.ts'
import { type StepId, StepIds } from './step-ids.ts'
import { StepPromise } from './step-promise.ts'

/** How a pass ended. `data` is the handler's result as JSON text, `loss` says what that does not keep. */
export type Outcome =
  | { kind: 'returned'; data: string | undefined; loss?: string; opcodes?: EncodedOpcode[] }
  | { kind: 'threw'; error: unknown; fatal: boolean }
  /** `isStuck`: the handler waits for steps; otherwise it settled, or the engine stopped the pass. */
  | { kind: 'opcodes'; opcodes: EncodedOpcode[]; isStuck: boolean }
  | { kind: 'cancelled' }

type Settled = Extract<Outcome, { kind: 'returned' | 'threw' }>

interface PassOptions {
  checkpoints?: Checkpoints | undefined
  /** Whether the engine takes the last steps of a run together with its end. */
  handsOver?: boolean
}

/** The state machine of one pass. Step tools call `step()`; `invoke.ts` calls `run()`. */
export class Pass {
  readonly #memo: Memo
  readonly #checkpoints: Checkpoints | undefined
  readonly #handsOver: boolean
  readonly #ids = new StepIds()
  readonly #discoveries = new Discoveries()
  readonly #discovered: string[] = []
  /** Names, by hashed id, of the steps whose promise nobody has awaited. */
  readonly #unawaited = new Map<string, string>()
  /** Number of steps called, callbacks settled and receipts received: shows whether a turn of the event loop had any. */
  #activityCount = 0
  #lastAwaited: string | undefined
  /** Callbacks that wait until what the handler has got is stored. Without checkpoints only a later pass starts them. */
  #held: StartOfCallback[] = []
  /** The results that the handler got before they were stored, by step id. */
  readonly #ahead = new Map<string, MemoEntry>()
  #checkIsScheduled = false
  #progress: ProgressTimer | undefined
  #settled: Settled | undefined
  #stopped = false
  #end: ((outcome: Outcome) => void) | undefined

  constructor(memo: Memo, { checkpoints, handsOver = false }: PassOptions = {}) {
    this.#memo = memo
    this.#checkpoints = checkpoints
    this.#handsOver = handsOver
  }

  /** Whether the pass has ended. Steps called later are not part of it. */
  get ended(): boolean {
    return this.#end === undefined
  }

  /** How many step callbacks are running. */
  get running(): number {
    return this.#discoveries.running
  }

  /** Names of the steps whose promise nobody has awaited. */
  get unawaited(): string[] {
    return [...this.#unawaited.values()]
  }

  /** Name of the step whose promise the handler awaited last. */
  get lastAwaited(): string | undefined {
    return this.#lastAwaited
  }

  /** Names of the steps that the engine had not stored. */
  get discovered(): readonly string[] {
    return this.#discovered
  }

  /** Whether the engine has stored steps that the handler has yet to call. */
  get isReplaying(): boolean {
    return this.#memo.hasUncalled
  }

  /** Reports new progress while the pass goes on, in its time. Reports of steps, and the answer, carry it before. */
  progressed(): void {
    if (!this.#checkpoints || this.ended) return
    this.#progress ??= new ProgressTimer(() => this.#reportProgress())
    this.#progress.start()
  }

  #reportProgress(): void {
    if (!this.ended && !this.#settled) this.#report()
  }

  /** Runs a handler until the pass ends. Called once. */
  run(handler: () => unknown): Promise<Outcome> {
    const ended = new Promise<Outcome>(resolve => {
      this.#end = resolve
    })
    const call = async () => handler()
    call().then(
      result => this.#returned(result),
      error => this.#threw(error),
    )
    return ended
  }

  /** Ends the pass without an answer, because its caller has disconnected. */
  cancel(): void {
    this.#finish({ kind: 'cancelled' })
  }

  /**
   * Handles one step call. The returned promise settles as the step did, or never in this pass. `discover` is called
   * when the engine has not stored the step. An error that it throws reports wrong arguments and rejects the call.
   */
  step(name: string, op: EncodedOpcode['op'], discover: (id: StepId) => Discovery): StepPromise<unknown> {
    // Above the limit the pass ends. A rejected promise would not do: the handler might catch it in an endless loop.
    if (this.#ids.count >= STEPS_MAX) this.#threw(new NonRetriableError(`A run has at most ${STEPS_MAX} steps`))
    if (this.ended) return never()
    try {
      this.#refuseNesting(name)
      // The handler has settled or the pass is stopped: only a later pass may execute this step.
      if (this.#settled || this.#stopped) return never()
      const id = this.#ids.next(name)
      const stored = this.#memo.opOf(id.hashedId)
      if (stored !== undefined && stored !== op) {
        this.#threw(new NondeterminismError(name, { stored, called: op }))
        return never()
      }
      if (!this.#memo.knows(id.hashedId)) {
        this.#discover(discover(id))
        this.#discovered.push(name)
      }
      this.#unawaited.set(id.hashedId, name)
      const promise = this.#memo.promiseOf(id, () => {
        this.#lastAwaited = name
        this.#unawaited.delete(id.hashedId)
      })
      this.#onActivity()
      return promise
    } catch (error) {
      return new StepPromise<never>((_, reject) => reject(error)).silenced()
    }
  }

  #discover(discovery: Discovery): void {
    if (typeof discovery !== 'function') this.#discoveries.add(discovery)
    else if (this.#ahead.size === 0) this.#discoveries.start(discovery, () => this.#onActivity())
    else {
      this.#held.push(this.#checkpoints ? inScopeOfCaller(discovery) : discovery)
      this.#report()
    }
  }

  /** Throws for a nested step: the step would wait for the end of the pass, and the pass for the outer callback. */
  #refuseNesting(name: string): void {
    const scope = scopeWithin(this)
    if (!scope) return
    throw new NonRetriableError(
      `Step "${name}" was called inside the callback of step "${scope.stepName}": steps cannot be nested`,
    )
  }

  /** Called after each activity of the pass: ends the pass, or schedules a check for the next turn of the event loop. */
  #onActivity(): void {
    this.#activityCount++
    if (this.ended) return
    if (!this.#settled && !this.#stopped) this.#checkNextTurn()
    else if (!this.#isBusy) this.#conclude()
  }

  get #isBusy(): boolean {
    return this.running > 0 || this.#checkpoints?.underWay === true
  }

  /** One turn of the event loop later, reports the discovered steps, or ends the pass if the handler is stuck. */
  #checkNextTurn(): void {
    if (this.#checkIsScheduled) return
    this.#checkIsScheduled = true
    const activityCount = this.#activityCount
    setImmediate(() => {
      this.#checkIsScheduled = false
      if (this.ended || this.#settled || this.#stopped || this.#handOver() || this.#report()) return
      if (this.#isBusy || (this.#memo.outstanding === 0 && this.#ahead.size === 0)) return
      if (this.#activityCount !== activityCount && this.#held.length === 0) this.#checkNextTurn()
      else this.#finish({ kind: 'opcodes', opcodes: this.#discoveries.take(), isStuck: true })
    })
  }

  /** Gives the results of the finished steps to the handler before they are stored, if it may. Returns whether it did. */
  #handOver(): boolean {
    if (!this.#handsOver || this.#checkpoints?.underWay || this.#memo.outstanding === 0 || this.isReplaying)
      return false
    const opcodes = this.#discoveries.handOver(this.#memo.outstanding)
    if (!opcodes) return false
    const settlements = opcodes.map(opcode => ({ id: opcode.id, entry: asReported(opcode) }))
    for (const { id, entry } of settlements) this.#ahead.set(id, entry)
    this.#memo.receive(settlements)
    this.#onActivity()
    return true
  }

  /** Marks the results that the handler got as stored, so that callbacks may start. Returns false if others are stored. */
  #storedAhead(settlements: readonly Settlement[]): boolean {
    const isAsGot = settlements.every(({ id, entry }) => isSame(this.#ahead.get(id), entry))
    this.#ahead.clear()
    return isAsGot
  }

  #startHeld(): void {
    if (this.#settled?.kind === 'threw') return
    for (const start of this.#held.splice(0)) this.#discoveries.start(start, () => this.#onActivity())
  }

  /** Reports the discovered steps if one of them is urgent, or while callbacks run. Returns whether it did. */
  #report(): boolean {
    const checkpoints = this.#checkpoints
    if (!checkpoints?.isOpen || checkpoints.underWay) return false
    const { isUrgent, running, size } = this.#discoveries
    const isProgressDue = this.#progress?.isDue === true && checkpoints.hasProgress
    if (!isProgressDue && !isUrgent && (running === 0 || size === 0)) return false
    if (checkpoints.hasProgress) this.#progress?.sent()
    checkpoints.report(this.#discoveries).then(
      ({ settlements, stop }) => {
        if (this.ended) return
        const isAsGot = this.#storedAhead(settlements)
        if (stop || !isAsGot) {
          this.#stopped = true
          this.#memo.close()
        } else this.#startHeld()
        // A handler that went by another result than the stored one has to be called again.
        if (!isAsGot) this.#settled = undefined
        this.#memo.receive(settlements)
        this.#onActivity()
      },
      error => {
        if (error instanceof UnreportedError) this.#onActivity()
        else this.cancel()
      },
    )
    return true
  }

  #returned(result: unknown): void {
    if (this.ended) return
    try {
      const data = encodePayload(result, 'The result of the workflow')
      const loss = lossOf(result)
      this.#settle({ kind: 'returned', data, ...(loss === undefined ? {} : { loss }) })
    } catch (error) {
      this.#threw(error)
    }
  }

  #threw(error: unknown): void {
    if (this.ended) return
    const fatal = isFatal(error)
    // The next pass throws again, when the steps behind the error are stored.
    if (fatal && this.#discoveries.hasHanded)
      this.#finish({ kind: 'opcodes', opcodes: this.#discoveries.takeHanded(), isStuck: false })
    else if (fatal) this.#finish({ kind: 'threw', error, fatal })
    else this.#settle({ kind: 'threw', error, fatal })
  }

  #settle(settled: Settled): void {
    this.#settled = settled
    // Branches that nobody awaits must get equally far in every pass.
    this.#memo.close()
    this.#onActivity()
  }

  #conclude(): void {
    const settled = this.#settled
    const handed = this.#discoveries.takeHanded()
    const kept = [...handed, ...this.#discoveries.take().filter(({ op }) => !settled || isKept(op, settled))]
    const isOver = settled && (settled.kind === 'threw' || this.#held.length === 0)
    if (isOver && kept.length === 0) this.#finish(settled)
    else if (isOver && settled.kind === 'returned' && this.#handsOver && kept.every(({ settles }) => settles))
      this.#finish({ ...settled, opcodes: kept })
    else this.#finish({ kind: 'opcodes', opcodes: kept, isStuck: false })
  }

  #finish(outcome: Outcome): void {
    this.#progress?.stop()
    this.#memo.close()
    this.#end?.(outcome)
    this.#end = undefined
  }
}

/** Whether a step that nobody awaited is still reported when the handler has settled. */
function isKept(op: EncodedOpcode['op'], settled: Settled): boolean {
  const { hasResult, outlivesReturn } = OPCODE_RULES[op]
  return settled.kind === 'threw' ? hasResult : outlivesReturn
}

/** Whether a step that the handler had as `got` is stored with that result. Undefined: it did not have it. */
function isSame(got: MemoEntry | undefined, stored: MemoEntry): boolean {
  if (got === undefined) return true
  if (got.error || stored.error || stored.pending) return got.error !== undefined && stored.error !== undefined
  return true
}

/** Lets a callback that starts later run in the async scope of its call. */
function inScopeOfCaller(start: StartOfCallback): StartOfCallback {
  const caller = new AsyncResource('perdure.step')
  return () => caller.runInAsyncScope(start)
}

/** Returns a new promise each time: reactions to a shared promise that never settles would leak memory. */
function never(): StepPromise<never> {
  return new StepPromise(() => undefined)
}
