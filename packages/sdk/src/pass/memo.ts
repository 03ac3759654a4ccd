// The results that the engine has stored (sent with the invoke, or with the receipt of a checkpoint), and the order in
// which a pass settles the handler's step calls with them.
//
// This order makes replay exact. When two steps are both stored, `Promise.race` must settle with the step that settled
// first in the original pass, and parallel branches that share step names must call them in the original order. Step
// calls are therefore settled one at a time, in the order of the memo's keys (the engine appends a key when its step
// settles). Before each, the handler gets the time to do all it can with the previous one: until the microtask queue is
// empty. Receipts continue that order, so a handler that continues after a checkpoint sees what every later replay sees.

import type { InvokeRequest, MemoEntry } from '@perdure/protocol'
import { StepFailedError } from '../wire/errors.ts'
import type { StepId } from './step-ids.ts'
import { StepPromise } from './step-promise.ts'

/** A step call of the handler that waits for its result. */
interface Call {
  readonly name: string
  readonly resolve: (data: unknown) => void
  readonly reject: (error: Error) => void
}

interface KnownStep {
  /** The position in the memo, once the step has settled; -1 before. */
  order: number
  /** Undefined for a step that was discovered and not acknowledged yet. */
  entry: MemoEntry | undefined
  call: Call | undefined
  readonly op?: string | undefined
  /** The invoke brought it. */
  readonly isStored?: true
}

/** A step call that can be settled. */
interface ReadyCall {
  readonly order: number
  readonly entry: MemoEntry
  readonly call: Call
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
  #outstanding = 0
  #uncalledCount = 0
  #scheduled = false
  #closed = false

  constructor(entries: InvokeRequest['steps']) {
    for (const hashedId in entries) {
      const entry = entries[hashedId]
      this.#steps.set(hashedId, { order: this.#nextOrder++, entry, call: undefined, op: entry?.op, isStored: true })
    }
    this.#uncalledCount = this.#nextOrder
  }

  /** How many steps the engine has stored. */
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

  /** How many steps the handler has called that have not settled. */
  get outstanding(): number {
    return this.#outstanding
  }

  /** Returns the promise of a step call, which settles in the order of the memo. Called once for each step. */
  promiseOf({ hashedId, name }: StepId, onSubscribe: () => void): StepPromise<unknown> {
    const step = this.#stepOf(hashedId)
    if (step.isStored) this.#uncalledCount--
    const promise: StepPromise<unknown> = new StepPromise((resolve, reject) => {
      const rejectSilenced = (error: Error) => {
        promise.silenced()
        reject(error)
      }
      step.call = { name, resolve, reject: rejectSilenced }
    }, onSubscribe)
    if (isSettled(step.entry)) this.#settleCallLater(step)
    else this.#outstanding++
    return promise
  }

  /** Applies the settlements of a receipt, in their order. Steps that have settled already are not changed. */
  receive(settlements: readonly Settlement[]): void {
    for (const { id, entry } of settlements) {
      const step = this.#stepOf(id)
      if (isSettled(step.entry)) continue
      step.entry = entry
      if (!isSettled(entry)) continue
      step.order = this.#nextOrder++
      if (!step.call) continue
      this.#outstanding--
      this.#settleCallLater(step)
    }
  }

  /** From now on no step call is settled. */
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
    const step = this.#steps.get(hashedId) ?? { order: -1, entry: undefined, call: undefined }
    this.#steps.set(hashedId, step)
    return step
  }

  #settleCallLater(step: KnownStep): void {
    const { order, entry, call } = step
    if (!entry || !call || this.#closed) return
    insert(this.#ready, { order, entry, call })
    // Drops the result from the memo: a long pass must not keep every result in memory.
    step.entry = entry.error ? FAILED : SUCCEEDED
    this.#schedule()
  }

  /** A `nextTick` runs when the microtask queue is empty, but only if it was queued from a microtask: hence both calls. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => process.nextTick(this.#settleNextCall))
  }

  readonly #settleNextCall = (): void => {
    this.#scheduled = false
    const next = this.#closed ? undefined : this.#ready.shift()
    if (!next) return
    const { call, entry } = next
    if (entry.error) call.reject(new StepFailedError(call.name, entry.error))
    else call.resolve(entry.data)
    if (this.#ready.length > 0) this.#schedule()
  }
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
