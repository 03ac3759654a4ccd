// The results the engine knows (sent with the invoke, or with the receipt of a checkpoint), and the order in which
// a pass hands them to the handler.
//
// Settling order is what makes replay exact. When two steps are both stored, `Promise.race` must see the one
// first that was first the last time, and parallel branches that share step names must reach them in the same
// order as before. So stored results are handed over one at a time, in the order of the memo's keys (the engine
// appends a key when its step settles), and each waits until the handler has done all it can with the one
// before: until the microtask queue is empty. Receipts carry on that order, so a handler that goes on past a
// checkpoint sees what every later replay will show it.

import type { InvokeRequest, MemoEntry } from '@perdure/protocol'
import { StepFailedError } from '../errors.ts'
import { SettleOrder } from './settle-order.ts'
import type { StepId } from './step-ids.ts'
import { StepPromise } from './step-promise.ts'

/** How the handler waits for a step. */
interface Call {
  readonly name: string
  readonly promise: StepPromise<unknown>
  readonly resolve: (data: unknown) => void
  readonly reject: (error: Error) => void
}

interface KnownStep {
  /** Its place in the memo, once it has settled. */
  order: number
  /** Nothing for a step that was discovered and not acknowledged yet. */
  entry: MemoEntry | undefined
  call: Call | undefined
}

interface Ready {
  readonly order: number
  readonly entry: MemoEntry
  readonly call: Call
}

/** What a receipt tells of a step. */
export interface Settlement {
  readonly id: string
  readonly entry: MemoEntry
}

/** A stored step that the handler did not ask for: `after` names the step that settled before it, if that one was. */
export interface UnaskedStep {
  readonly hashedId: string
  readonly after: string | undefined
}

/** The memo of one pass (contract §2.11, `steps`). */
export class Memo {
  readonly #steps = new Map<string, KnownStep>()
  readonly #ready = new SettleOrder<Ready>()
  #nextOrder = 0
  #storedCount = 0
  #unaskedCount = 0
  #outstanding = 0
  #scheduled = false
  #closed = false

  constructor(entries: InvokeRequest['steps']) {
    for (const hashedId in entries) {
      this.#steps.set(hashedId, { order: this.#nextOrder++, entry: entries[hashedId], call: undefined })
    }
    this.#storedCount = this.#steps.size
    this.#unaskedCount = this.#steps.size
  }

  /** Steps the engine has told of. */
  get storedCount(): number {
    return this.#storedCount
  }

  /** Those among them that the handler has not asked for. */
  get unaskedCount(): number {
    return this.#unaskedCount
  }

  knows(hashedId: string): boolean {
    return this.#steps.has(hashedId)
  }

  /** Steps the handler has asked for that have not settled. */
  get outstanding(): number {
    return this.#outstanding
  }

  /** The promise of a step, asked for once: it settles when the step has, and its turn has come. */
  ask({ hashedId, name }: StepId, onSubscribe: () => void): StepPromise<unknown> {
    let call: Pick<Call, 'resolve' | 'reject'> | undefined
    const promise = new StepPromise<unknown>((resolve, reject) => {
      call = { resolve, reject }
    }, onSubscribe)
    let step = this.#steps.get(hashedId)
    if (!step) {
      step = { order: -1, entry: undefined, call: undefined }
      this.#steps.set(hashedId, step)
    } else this.#unaskedCount--
    step.call = { ...(call as unknown as Call), name, promise }
    if (isSettled(step.entry)) this.#handOverLater(step)
    else this.#outstanding++
    return promise
  }

  /** Takes over what a receipt tells, in its order. What is settled already stays as it is. */
  receive(settlements: readonly Settlement[]): void {
    for (const { id, entry } of settlements) {
      const known = this.#steps.get(id)
      if (isSettled(known?.entry)) continue
      const step = known ?? { order: -1, entry: undefined, call: undefined }
      if (!known) {
        this.#steps.set(id, step)
        this.#unaskedCount++
      }
      if (!step.entry) this.#storedCount++
      step.entry = entry
      if (!isSettled(entry)) continue
      step.order = this.#nextOrder++
      if (!step.call) continue
      this.#outstanding--
      this.#handOverLater(step)
    }
  }

  /** Nothing is handed over any more. */
  close(): void {
    this.#closed = true
  }

  /** Stored steps that the handler has not asked for, in the order of the memo. */
  unasked(): UnaskedStep[] {
    const unasked: UnaskedStep[] = []
    let after: string | undefined
    for (const [hashedId, { call }] of this.#steps) {
      if (!call) unasked.push({ hashedId, after })
      after = call?.name
    }
    return unasked
  }

  #handOverLater(step: KnownStep): void {
    const { order, entry, call } = step
    if (!entry || !call || this.#closed) return
    this.#ready.push({ order, entry, call })
    // The handler has it from here: a long pass must not keep every result.
    step.entry = entry.error ? FAILED : SUCCEEDED
    this.#schedule()
  }

  /** Ticks run when the microtask queue is empty, but only those queued from a microtask: hence both. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    queueMicrotask(() => process.nextTick(this.#handOver))
  }

  readonly #handOver = (): void => {
    this.#scheduled = false
    const next = this.#closed ? undefined : this.#ready.pop()
    if (!next) return
    const { call, entry } = next
    if (entry.error) {
      call.promise.silenced()
      call.reject(new StepFailedError(call.name, entry.error))
    } else call.resolve(entry.data)
    if (this.#ready.size > 0) this.#schedule()
  }
}

const SUCCEEDED: MemoEntry = {}
const FAILED: MemoEntry = { error: { message: 'handed over' } }

function isSettled(entry: MemoEntry | undefined): boolean {
  return entry !== undefined && entry.pending !== true
}
