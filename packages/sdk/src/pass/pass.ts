// One pass: runs the handler from its start against the memo, until the handler settles or is stuck. Called by invoke.ts.
//
// A handler is stuck when it waits for a step that has not settled, and nothing else makes it continue. A program cannot
// see what a promise waits for, so the pass uses these rules:
//   - a handler that settles ends the pass at once;
//   - while every step that the handler called has settled, the pass waits for the handler, however long its own I/O takes;
//   - once the handler has called a step that has not settled, the pass ends when all callbacks it started have settled,
//     no checkpoint is under way, and one whole turn of the event loop had no further activity.
// A handler that awaits I/O outside of steps while a step is outstanding is therefore cut off. If it continues later, the run
// gets another pass, and from then on passes stay open for a moment at that place (replay/late-handler.ts).
//
// With checkpoints the pass continues after the steps it discovers. The result of a callback, an emit or a webhook is reported
// one turn of the event loop later, together with all other steps that are ready, and its call settles when the receipt arrives.
// Sleeps, waits and children are reported with the next such step, or at the end of the pass. If callbacks run, they are reported
// without waiting for the callbacks, which may take long.
//
// A pass that settles may have discovered steps whose promises nobody awaits. A return keeps the steps with an effect (206 now,
// 200 on the next pass), a retriable throw keeps the finished callbacks, and a fatal throw keeps nothing.

import { NonRetriableError } from '@perdure/client'
import { type MemoEntry, STEPS_MAX } from '@perdure/protocol'
import type { Delay, Position } from '../run/answer-delay.ts'
import type { Branch } from '../run/branch.ts'
import { isFatal, NondeterminismError } from '../wire/errors.ts'
import { CalledSteps } from './called-steps.ts'
import { asReported, type Checkpoints, UnreportedError } from './checkpoints.ts'
import { Discoveries, type Discovery, inScopeOfCaller, type StartOfCallback } from './discoveries.ts'
import type { Memo, Settlement } from './memo.ts'
import type { EncodedOpcode } from './opcode.ts'
import { isKept, isSame, type Outcome, returnedWith, type Settled } from './outcome.ts'
import { branchWithin, refuseNesting } from './pass-scope.ts'
import { PassTimeoutError, PassTimers, type TimersOptions } from './pass-timers.ts'
import { ProgressTimer } from './progress-timer.ts'
import { type StepId, StepIds } from './step-ids.ts'
import { never, StepPromise } from './step-promise.ts'
import { Waits } from './waits.ts'

interface PassOptions extends TimersOptions {
  checkpoints?: Checkpoints | undefined
  /** Whether the engine accepts the last steps of a run together with its end. */
  handsOver?: boolean
  /** Keeps the pass open where handlers of its workflow have continued late. */
  delay?: Delay | undefined
}

/** The state machine of one pass. Step tools call `step()`; `invoke.ts` calls `run()`. */
export class Pass {
  readonly #memo: Memo
  readonly #checkpoints: Checkpoints | undefined
  readonly #handsOver: boolean
  readonly ids = new StepIds()
  readonly #discoveries = new Discoveries()
  /** Whether the branches that the handler did not await have got their results. */
  #branches: 'behind' | 'following' | 'followed' = 'behind'
  readonly called = new CalledSteps()
  #waits: Waits | undefined
  /** Number of steps called, callbacks settled and receipts received: shows whether a turn of the event loop had any activity. */
  #activityCount = 0
  /** Callbacks that wait until the results that the handler has are stored. Without checkpoints only a later pass starts them. */
  #waitingStarts: StartOfCallback[] = []
  /** The results that the handler got before they were stored, by step id. */
  readonly #ahead = new Map<string, MemoEntry>()
  #checkIsScheduled = false
  #progress: ProgressTimer | undefined
  readonly timers: PassTimers
  readonly #delay: Delay | undefined
  /** Why the callbacks that ran at the deadline of the pass were given up; undefined if none was. */
  overdue: Error | undefined
  #settled: Settled | undefined
  #stopped = false
  #end: ((outcome: Outcome) => void) | undefined

  constructor(memo: Memo, options: PassOptions = {}) {
    const { checkpoints, handsOver = false } = options
    this.#memo = memo
    this.#checkpoints = checkpoints
    this.#handsOver = handsOver
    this.#delay = options.delay
    this.timers = new PassTimers(options, this.#discoveries, ms => this.#expire(ms))
  }

  /** Whether the pass has ended. Steps called later are not part of it. */
  get ended(): boolean {
    return this.#end === undefined
  }

  get running(): number {
    return this.#discoveries.running
  }

  get waits(): Waits {
    this.#waits ??= new Waits(this.#memo)
    return this.#waits
  }

  /** Called with the name of a step that is called after the end, or without one if the handler settles after the end. */
  onLate: ((step?: string) => void) | undefined

  get at(): Position {
    const { lastReleased: after, turn } = this.#memo
    return { after, open: this.called.last, position: this.ids.count + turn }
  }

  /** Whether the engine has stored steps that the handler has yet to call. */
  get isReplaying(): boolean {
    return this.#memo.hasUncalled
  }

  /** Reports new progress when it is time, while the pass continues. Reports of steps and the answer may carry it earlier. */
  progressed(): void {
    if (!this.#checkpoints || this.ended) return
    this.#progress ??= new ProgressTimer(() => void (this.ended || this.#settled || this.#report()))
    this.#progress.start()
  }

  /** Runs a handler until the pass ends. Called once. */
  run(handler: () => unknown): Promise<Outcome> {
    const ended = new Promise<Outcome>(resolve => {
      this.#end = resolve
    })
    const call = async () => handler()
    call().then(
      result => (this.ended ? this.onLate?.() : this.#returned(result)),
      error => (this.ended ? this.onLate?.() : this.#threw(error)),
    )
    if (!this.#checkIsScheduled) setImmediate(() => !this.ended && this.timers.watch())
    return ended
  }

  /** Ends the pass at its deadline: the running attempts have failed. A handler that works outside of steps fails. */
  #expire(ms: number): void {
    const { running, callbacks } = this.#discoveries
    if (this.ended || (running === 0 && (this.#isBusy || this.#settled))) return
    const names = callbacks.map(({ id }) => id.name)
    const error = new PassTimeoutError(names, { ms, after: this.called.lastAwaited })
    if (running === 0) {
      this.#threw(error)
      return
    }
    this.overdue = error
    this.#discoveries.giveUp(error)
    this.#stop()
    this.#onActivity()
  }

  #stop(): void {
    this.#stopped = true
    this.#memo.close()
  }

  /** Ends the pass without an answer. With `isLate` its run has ended: the pass answers when its callbacks have settled. */
  cancel(isLate = false): void {
    if (!isLate) this.#finish({ kind: 'cancelled' })
    else this.#stop()
    this.#onActivity()
  }

  /**
   * Handles one step call, by the step's name or by an id that was taken before. The returned promise settles as the step did, or
   * never in this pass. `discover` is called if the engine has not stored the step; an error that it throws rejects the call.
   */
  step(called: string | StepId, op: EncodedOpcode['op'], discover: (id: StepId) => Discovery): StepPromise<unknown> {
    const name = typeof called === 'object' ? called.name : called
    // Above the limit the pass ends: the handler might catch a rejection in an endless loop.
    if (this.ids.count >= STEPS_MAX) this.#threw(new NonRetriableError(`A run has at most ${STEPS_MAX} steps`))
    if (this.ended) {
      this.onLate?.(name)
      return never()
    }
    try {
      refuseNesting(this, name)
      // Only a later pass may execute this step.
      if (this.#settled || this.#stopped) return this.#calledTooLate(called)
      const branch = branchWithin(this)
      if (branch?.isCutOff) return never()
      const id = typeof called === 'object' ? called : this.ids.next(name)
      const stored = this.#memo.opOf(id.hashedId)
      if (stored !== undefined && stored !== op) {
        this.#threw(new NondeterminismError(name, { stored, called: op }))
        return never()
      }
      if (!this.#memo.knows(id.hashedId)) {
        const discovery = discover(id)
        if (branch && typeof discovery === 'function') this.#defer(id, discovery)
        else this.#discover(discovery)
        this.called.discovered.push(name)
      }
      this.#delay?.goesOn(name)
      this.called.called(id)
      const promise = this.#memo.promiseOf(id, op, { branch, onSubscribe: () => this.called.awaited(id) })
      this.#onActivity()
      return promise
    } catch (error) {
      return new StepPromise<never>((_, reject) => reject(error)).silenced()
    }
  }

  #calledTooLate(called: string | StepId): StepPromise<never> {
    const { name, hashedId } = typeof called === 'object' ? called : this.ids.next(called)
    if (this.#settled?.kind !== 'returned' || this.#memo.knows(hashedId)) return never()
    this.called.lose(name)
    return never()
  }

  #discover(discovery: Discovery): void {
    if (typeof discovery !== 'function') this.#discoveries.add(discovery)
    else if (this.#ahead.size === 0) this.#start(discovery)
    else {
      this.#waitingStarts.push(this.#checkpoints ? inScopeOfCaller(discovery) : discovery)
      this.#report()
    }
  }

  /** Starts a callback of a branch one turn of the event loop later: if stored results cut the branch off, it starts none. */
  #defer(id: StepId, start: StartOfCallback): void {
    this.#discoveries.defer(id, start, deferred => {
      const isOver = this.ended || this.#stopped || this.#settled?.kind === 'threw'
      for (const { id, start } of deferred) if (!isOver && !this.#memo.isCutOff(id.hashedId)) this.#discover(start)
      this.#onActivity()
    })
  }

  /** Cuts off a branch and the steps that it has called: their callbacks are aborted, and nobody gets their results. */
  cutOff(branch: Branch, reason: Error): void {
    branch.cutOff()
    this.#memo.forgetCutOff()
    this.#discoveries.abort(({ hashedId }) => this.#memo.isCutOff(hashedId), reason)
    this.#onActivity()
  }

  /** Gives an earlier step call to a branch, if the step has a callback. */
  adopt({ stepId }: { stepId?: string | undefined }, branch: Branch): void {
    if (stepId !== undefined) this.#memo.adopt(stepId, branch)
  }

  #start(start: StartOfCallback): void {
    this.#discoveries.start(start, () => this.#onActivity())
  }

  /** Called after each activity of the pass: ends the pass, or schedules a check for the next turn of the event loop. */
  #onActivity(): void {
    this.#activityCount++
    if (this.ended) return
    if (!this.#settled && !this.#stopped) this.#checkNextTurn()
    else if (!this.#isBusy) this.#conclude()
  }

  get #isBusy(): boolean {
    return this.running > 0 || this.#discoveries.hasDeferred || this.#checkpoints?.underWay === true
  }

  /** One turn of the event loop later, reports the discovered steps, or ends the pass if the handler is stuck. */
  #checkNextTurn(): void {
    if (this.#checkIsScheduled) return
    this.#checkIsScheduled = true
    const activityCount = this.#activityCount
    setImmediate(() => {
      this.#checkIsScheduled = false
      if (this.ended) return
      this.timers.watch()
      if (this.#settled || this.#stopped || this.#handOver() || this.#report()) return
      if (this.#isBusy || (this.#memo.outstanding === 0 && this.#ahead.size === 0)) return
      if (this.#activityCount !== activityCount && this.#waitingStarts.length === 0) this.#checkNextTurn()
      else if (!this.#staysOpen()) this.#finish({ kind: 'opcodes', opcodes: this.#discoveries.take(), isStuck: true })
    })
  }

  /** Whether the pass stays open. It does not if the answer settles a step, because that step brings another pass anyway. */
  #staysOpen(): boolean {
    return !this.#discoveries.isUrgent && this.#delay?.keepsOpen(this.at, () => this.#checkNextTurn()) === true
  }

  /** Gives the results of the finished steps to the handler before they are stored, if allowed. Returns whether it did. */
  #handOver(): boolean {
    if (!this.#handsOver || this.#checkpoints?.underWay || this.#memo.outstanding === 0 || this.isReplaying)
      return false
    const opcodes = this.#discoveries.handOver(this.#memo.outstanding, id => this.#memo.isOutstanding(id))
    if (!opcodes) return false
    const settlements = opcodes.map(opcode => ({ id: opcode.id, entry: asReported(opcode) }))
    for (const { id, entry } of settlements) this.#ahead.set(id, entry)
    this.#memo.receive(settlements, { isAhead: true })
    this.#onActivity()
    return true
  }

  /** Called when the results that the handler has are stored: callbacks may start. Returns false if other results were stored. */
  #storedAhead(settlements: readonly Settlement[]): boolean {
    const isAsGot = settlements.every(({ id, entry }) => isSame(this.#ahead.get(id), entry))
    this.#ahead.clear()
    return isAsGot
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
        this.timers.restart()
        const isAsGot = this.#storedAhead(settlements)
        if (stop || !isAsGot) this.#stop()
        else if (this.#settled?.kind !== 'threw') for (const start of this.#waitingStarts.splice(0)) this.#start(start)
        // The handler used another result than the stored one, so it must be called again.
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
    try {
      this.#settle(returnedWith(result))
    } catch (error) {
      this.#threw(error)
    }
  }

  /**
   * Parks the pass if the handler has thrown while it has results that are not stored. The next pass throws again, and then the
   * middleware sees the error.
   */
  parksOn(error: unknown): boolean {
    if (this.ended || !this.#discoveries.hasHanded) return false
    this.#threw(error)
    return true
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
    this.#delay?.goesOn()
    this.#settled = settled
    // Branches that nobody awaits must get equally far in every pass.
    if (settled.kind === 'threw') this.#memo.close()
    else this.#memo.keepNewestCalls()
    this.#onActivity()
    if (!this.ended) this.timers.watch()
  }

  #conclude(): void {
    const settled = this.#settled
    if (settled?.kind === 'returned' && this.#followBranches()) return
    const handed = this.#discoveries.takeHanded()
    const kept = [...handed, ...this.#discoveries.take().filter(({ op }) => !settled || isKept(op, settled))]
    const isOver = settled && (settled.kind === 'threw' || this.#waitingStarts.length === 0)
    if (isOver && kept.length === 0) this.#finish(settled)
    else if (isOver && settled.kind === 'returned' && this.#handsOver && kept.every(({ settles }) => settles))
      this.#finish({ ...settled, opcodes: kept })
    else this.#finish({ kind: 'opcodes', opcodes: kept, isStuck: false })
  }

  /**
   * Gives the branches that the handler did not await the results that are there, and a turn of the event loop: steps that they call
   * are lost. A branch that began before the last result that the handler got may be the loser of a race, which gets no further.
   * Returns false if that has been done, or if there are no such branches.
   */
  #followBranches(): boolean {
    if (this.#branches !== 'behind') return this.#branches === 'following'
    const found = this.#discoveries.finished.filter(({ id }) => this.#memo.isAwaited(id))
    if (found.length === 0 && !this.#memo.isSettling) return false
    this.#branches = 'following'
    const ahead = found.map(opcode => ({ id: opcode.id, entry: asReported(opcode) }))
    this.#memo.receive(ahead, { isAhead: true })
    setImmediate(() => {
      this.#branches = 'followed'
      this.#memo.close()
      this.#onActivity()
    })
    return true
  }

  #finish(outcome: Outcome): void {
    this.timers.stop()
    this.#progress?.stop()
    this.#delay?.stop()
    this.#memo.close()
    this.#end?.(outcome)
    this.#end = undefined
  }
}
