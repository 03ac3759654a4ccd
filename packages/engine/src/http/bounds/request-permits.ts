// Requests of a kind that may be under way at once. Further ones wait for a permit, and callers take turns. Used by the routes of
// statistics, and by access/accept.ts.

import { EngineError } from '../../domain/model/errors.ts'
import { type Caller, FairQueue } from './fair-queue.ts'

/** Requests that wait at most. */
export interface WaitingMax {
  all: number
  perNamespace: number
  perKey: number
  /** Bytes of their bodies; a namespace has at most half of what others leave. */
  bytes: number
}

export interface RequestPermitsOptions {
  /** Permits in all. The number may change at any time. */
  max(): number
  waitingMax: WaitingMax
  /** The message for a request that is refused because too many wait. */
  refusal: string
}

/** A request that waits for its permits. */
export interface Waiting {
  caller: Caller
  /** Its permits; by default one. It begins when one is free, so a large request never waits for many to be free at once. */
  count?: number
  /** Length of its body. */
  bytes?: number
  /** Ends the wait: it rejects with the reason. */
  signal: AbortSignal
}

interface Waiter {
  count: number
  bytes: number
  begin(): void
}

export class RequestPermits {
  readonly #options: RequestPermitsOptions
  #inUse = 0
  readonly #waiting = new FairQueue<Waiter>()

  constructor(options: RequestPermitsOptions) {
    this.#options = options
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting.all.count
  }

  /** Takes permits if one is free and nobody waits. `giveBack` follows, as it follows `take`. */
  tryTake(count = 1): boolean {
    if (this.waiting > 0 || this.#inUse >= this.#options.max()) return false
    this.#inUse += count
    return true
  }

  /** Resolves with the permits. Rejects with `overloaded` when too many wait, or with the reason of the signal. */
  take({ caller, count = 1, bytes = 0, signal }: Waiting): Promise<void> {
    if (this.tryTake(count)) return Promise.resolve()
    if (!this.#mayWait(caller, bytes)) return Promise.reject(new EngineError('overloaded', this.#options.refusal))
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const waiter: Waiter = { count, bytes, begin }
      const leave = () => {
        this.#waiting.remove(caller, waiter)
        reject(signal.reason)
      }
      this.#waiting.push(caller, waiter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  giveBack(count = 1): void {
    this.#inUse -= count
    while (this.#inUse < this.#options.max()) {
      const next = this.#waiting.shift()
      if (!next) return
      this.#inUse += next.count
      next.begin()
    }
  }

  #mayWait(caller: Caller, bytes: number): boolean {
    const max = this.#options.waitingMax
    const { all } = this.#waiting
    const { namespace, key } = this.#waiting.loadOf(caller)
    if (all.count >= max.all || namespace.count >= max.perNamespace || key.count >= max.perKey) return false
    return namespace.bytes + bytes <= (max.bytes - all.bytes + namespace.bytes) / 2
  }
}
