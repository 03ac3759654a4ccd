// The results that the engine has stored (sent with the invoke, or with the receipt of a checkpoint), and the order in
// which a pass settles the handler's step calls with them.
//
// This order makes replay exact. When two steps are both stored, `Promise.race` must settle with the step that settled first in
// the original pass, and parallel branches that share step names must call them in the original order. The pass therefore settles
// step calls one at a time, in the order of the memo's keys (the engine appends a key when its step settles). Before each, the
// handler gets the time to do all it can with the previous one: until the microtask queue is empty. Receipts continue that order,
// so a handler that continues after a checkpoint sees what every later replay sees.

import type { InvokeRequest, MemoEntry } from '@perdure/protocol'
import type { Branch } from '../run/branch.ts'
import { StepFailedError } from '../wire/errors.ts'
import type { StepId } from './step-ids.ts'
import { StepPromise } from './step-promise.ts'

/** A step call of the handler that waits for its result. */
interface Call {
  readonly name: string
  /** The number of calls that had been settled before this one. */
  readonly turn: number
  /** The branch that made it, if one did. */
  branch: Branch | undefined
  /** Whether it still counts as outstanding. */
  isOutstanding: boolean
  readonly resolve: (data: unknown) => void
  readonly reject: (error: Error) => void
}

interface KnownStep {
  /** The position in the memo, once the step has settled; -1 before. */
  order: number
  /** Undefined for a step that was discovered and is not acknowledged yet. */
  entry: MemoEntry | undefined
  call: Call | undefined
  op: string | undefined
  /** The event that settled a wait. */
  event: WaitedEvent | undefined
  /** The engine has sent its end, and it counts as settled. */
  isCounted: boolean
  /** The invoke brought it. */
  readonly isStored: boolean
}

/** The kinds of steps that events settle. */
export type WaitOp = 'WaitForEvent' | 'WaitForSignal'

/** An event that has settled a wait. */
export interface WaitedEvent {
  /** Hashed id of the wait. */
  readonly stepId: string
  readonly id: string
  readonly name: string
  readonly op: WaitOp
  /** The promise of the wait has settled. */
  isReleased: boolean
  /** The handler called no step before the next promise settled. */
  ledToNothing: boolean
}

/** A step call that can be settled. */
interface ReadyCall {
  readonly order: number
  readonly entry: MemoEntry
  readonly call: Call
  readonly event: WaitedEvent | undefined
}

/** The new memo entry of a step, from a receipt. */
export interface Settlement {
  readonly id: string
  readonly entry: MemoEntry
}

/** A stored step that the handler did not call. `after` names the step settled before it, if the handler called that. */
export interface UncalledStep {
  readonly hashedId: string
  readonly after: string | undefined
}

/** The memo of one pass, created from `steps` of the invoke request. */
export class Memo {
  readonly #steps = new Map<string, KnownStep>()
  /** In the order of the memo. */
  readonly #ready: ReadyCall[] = []
  #nextOrder = 0
  /** The number of steps that the handler has called and that have not settled. */
  outstanding = 0
  #uncalledCount = 0
  #scheduled = false
  #closed = false
  /** The number of calls that have been settled. */
  turn = 0
  /** If set, only calls of this turn may settle. */
  #keptTurn: number | undefined
  /** Name of the step whose result the handler got last. */
  lastReleased: string | undefined
  /** The turn of the newest call. */
  #calledTurn = -1
  /** The event of the wait that settled last. */
  #released: WaitedEvent | undefined
  /** The events of the waits that have settled, in the order of the memo. */
  readonly events: WaitedEvent[] = []
  /** The number of settled steps that the engine has sent, in the memo and in receipts. */
  settledCount = 0

  constructor(entries: InvokeRequest['steps']) {
    for (const hashedId in entries) {
      const entry = entries[hashedId]
      const step = newStep(this.#nextOrder++, { entry, isStored: true })
      this.#steps.set(hashedId, step)
      this.#noteSettled(hashedId, step)
    }
    this.#uncalledCount = this.#nextOrder
  }

  /** The number of steps that the engine has stored. */
  get storedCount(): number {
    return [...this.#steps.values()].filter(({ entry }) => entry).length
  }

  /** Whether the invoke brought steps that the handler has not called. */
  get hasUncalled(): boolean {
    return this.#uncalledCount > 0
  }

  /** The kind of a step that the engine has stored, if the engine named it. */
  opOf(hashedId: string): string | undefined {
    return this.#steps.get(hashedId)?.op
  }

  knows(hashedId: string): boolean {
    return this.#steps.has(hashedId)
  }

  /** Whether the pass knows the end of the step. */
  hasSettled(hashedId: string): boolean {
    return isSettled(this.#stepOf(hashedId).entry)
  }

  isOutstanding(hashedId: string): boolean {
    return this.#steps.get(hashedId)?.call?.isOutstanding === true
  }

  /** Settles only calls that were made since the last one settled, until the pass ends. */
  keepNewestCalls(): void {
    this.#keptTurn = this.turn
    const kept = this.#ready.filter(({ call }) => call.turn === this.#keptTurn)
    this.#ready.splice(0, this.#ready.length, ...kept)
  }

  /** Whether a call is about to settle with a result that is already there. */
  get isSettling(): boolean {
    return this.#ready.length > 0
  }

  /** Whether a call of the step is waiting that may still settle. */
  isAwaited(hashedId: string): boolean {
    const { call, entry } = this.#stepOf(hashedId)
    return call !== undefined && !isSettled(entry) && this.#maySettle(call)
  }

  /**
   * Gives a step call to a branch, if the step has a callback, which the branch may abort. After a lost race the handler may
   * await the promise of any other step again, so its result must arrive.
   */
  adopt(hashedId: string, branch: Branch): void {
    const { call, op } = this.#stepOf(hashedId)
    if (call && op === 'StepRun') call.branch ??= branch
  }

  /** Whether a branch called the step that has been cut off. */
  isCutOff(hashedId: string): boolean {
    return this.#steps.get(hashedId)?.call?.branch?.isCutOff === true
  }

  /** Stops counting the calls of branches that have been cut off: the handler waits for them no longer. */
  forgetCutOff(): void {
    for (const { call, entry } of this.#steps.values()) {
      if (call?.isOutstanding && call.branch?.isCutOff && !isSettled(entry)) this.#isOver(call)
    }
  }

  /** Returns the promise of a step call, which settles in the order of the memo. Called once for each step. */
  promiseOf(
    { hashedId, name }: StepId,
    op: string,
    { branch, onSubscribe }: { branch?: Branch | undefined; onSubscribe: () => void },
  ): StepPromise<unknown> {
    const step = this.#stepOf(hashedId)
    step.op ??= op
    this.#calledTurn = this.turn
    if (step.isStored) this.#uncalledCount--
    const executor = (resolve: (data: unknown) => void, reject: (error: Error) => void) => {
      const rejectSilenced = (error: Error) => {
        promise.silenced()
        reject(error)
      }
      const isOutstanding = !isSettled(step.entry)
      step.call = { name, turn: this.turn, branch, isOutstanding, resolve, reject: rejectSilenced }
    }
    const promise: StepPromise<unknown> = new StepPromise(executor, onSubscribe, hashedId)
    if (isSettled(step.entry)) this.#settleCallLater(step)
    else this.outstanding++
    return promise
  }

  /**
   * Applies the settlements of a receipt, in their order; with `isAhead`, results that are not stored yet. Steps that have
   * already settled do not change.
   */
  receive(settlements: readonly Settlement[], { isAhead = false } = {}): void {
    for (const { id, entry } of settlements) {
      const step = this.#stepOf(id)
      const isRepeat = isSettled(step.entry)
      if (!isRepeat) step.entry = entry
      if (!isAhead) this.#noteSettled(id, step)
      if (isRepeat || !isSettled(entry)) continue
      step.order = this.#nextOrder++
      if (!step.call) continue
      if (step.call.isOutstanding) this.#isOver(step.call)
      this.#settleCallLater(step)
    }
  }

  /** Settles no step call any more. */
  close(): void {
    this.#closed = true
  }

  /** Returns the stored steps that the handler has not called, in the order of the memo. */
  uncalled(): UncalledStep[] {
    const uncalled: UncalledStep[] = []
    let after: string | undefined
    for (const [hashedId, { call }] of this.#steps) {
      if (!call) uncalled.push({ hashedId, after })
      after = call?.name
    }
    return uncalled
  }

  #stepOf(hashedId: string): KnownStep {
    const step = this.#steps.get(hashedId) ?? newStep(-1, { entry: undefined, isStored: false })
    this.#steps.set(hashedId, step)
    return step
  }

  /** Counts a settled step that the engine has sent, and keeps the event if the step is a wait. */
  #noteSettled(stepId: string, step: KnownStep): void {
    const { entry, op } = step
    if (step.isCounted || entry === undefined || !isSettled(entry)) return
    step.isCounted = true
    this.settledCount++
    if (op !== 'WaitForEvent' && op !== 'WaitForSignal') return
    const { id, name } = (entry.data ?? {}) as Partial<WaitedEvent>
    if (typeof id !== 'string' || typeof name !== 'string') return
    step.event = { stepId, id, name, op, isReleased: false, ledToNothing: false }
    this.events.push(step.event)
  }

  #maySettle({ turn }: Call): boolean {
    return this.#keptTurn === undefined || turn === this.#keptTurn
  }

  #isOver(call: Call): void {
    call.isOutstanding = false
    this.outstanding--
  }

  #settleCallLater(step: KnownStep): void {
    const { order, entry, call, event } = step
    if (!entry || !call || this.#closed || !this.#maySettle(call) || call.branch?.isCutOff) return
    insert(this.#ready, { order, entry, call, event })
    // Drops the result from the memo: a long pass must not keep every result in memory.
    step.entry = entry.error ? FAILED : SUCCEEDED
    this.#schedule()
  }

  /** A `nextTick` callback runs when the microtask queue is empty, but only if a microtask queued it: hence both calls. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => process.nextTick(this.#settleNextCall))
  }

  readonly #settleNextCall = (): void => {
    this.#scheduled = false
    const next = this.#nextReady()
    if (!next) return
    const { call, entry, event } = next
    if (this.#released) this.#released.ledToNothing = this.#calledTurn !== this.turn
    this.#released = event
    if (event) event.isReleased = true
    this.turn++
    this.lastReleased = call.name
    if (entry.error) call.reject(new StepFailedError(call.name, entry.error))
    else call.resolve(entry.data)
    if (this.#ready.length > 0) this.#schedule()
  }

  /** Skips results of branches that were cut off: in every pass, nobody gets them. */
  #nextReady(): ReadyCall | undefined {
    for (;;) {
      const next = this.#closed ? undefined : this.#ready.shift()
      if (!next?.call.branch?.isCutOff) return next
    }
  }
}

/** Sets every field, so that all steps have one hidden class. */
function newStep(order: number, { entry, isStored }: { entry: MemoEntry | undefined; isStored: boolean }): KnownStep {
  return { order, entry, call: undefined, op: entry?.op, event: undefined, isCounted: false, isStored }
}

/** Finds the place by bisection: a fan-out may make thousands of calls ready at once. */
function insert(ready: ReadyCall[], call: ReadyCall): void {
  let [low, high] = [0, ready.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ready[middle] as ReadyCall).order < call.order) low = middle + 1
    else high = middle
  }
  ready.splice(low, 0, call)
}

const SUCCEEDED: MemoEntry = {}
const FAILED: MemoEntry = { error: { message: 'settled' } }

function isSettled(entry: MemoEntry | undefined): boolean {
  return entry !== undefined && entry.pending !== true
}
