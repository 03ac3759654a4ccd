// Permits for requests of one kind: only so many may be under way at once. Further requests wait for a permit, and callers take
// turns. Used by the routes of statistics, and by access/accept.ts.

import { FairQueue } from '../../base/fair-queue.ts'
import { EngineError } from '../../domain/model/errors.ts'

/** The sender of a request. Without `keyId`, all requests of the namespace belong to one caller. */
export interface Caller {
  namespace: string
  keyId?: string
}

/** Most requests that wait. */
export interface WaitingMax {
  all: number
  perNamespace: number
  perKey: number
  /** Bytes of their bodies; a namespace gets at most half of what the others leave. */
  bytes: number
}

export interface RequestPermitsOptions {
  /** Total number of permits, which may change at any time. */
  max(): number
  waitingMax: WaitingMax
  /** The message for a request that is refused because too many are waiting. */
  refusal: string
}

/** A request that waits for its permits. */
export interface Waiting {
  caller: Caller
  /**
   * Number of its permits; one by default. It begins when one is free, so a large request never waits for many to be free at
   * once.
   */
  count?: number
  /** Length of its body. */
  bytes?: number
  /** Ends the wait by rejecting with the signal's reason. */
  signal: AbortSignal
}

interface Waiter {
  count: number
  bytes: number
  begin(): void
}

/** The waiting requests of a namespace, by API key, and the bytes of their bodies. */
interface NamespaceWaiters {
  byKey: FairQueue<Waiter>
  bytes: number
}

export class RequestPermits {
  readonly #options: RequestPermitsOptions
  #inUse = 0
  /** For each waiting request, the queue of its namespace: namespaces take turns, and within each the API keys do. */
  readonly #waiting = new FairQueue<NamespaceWaiters>()
  #bytes = 0

  constructor(options: RequestPermitsOptions) {
    this.#options = options
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting.count
  }

  /** Takes permits if one is free and nobody waits. Like `take`, it is followed by `giveBack`. */
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
      const own = this.#enter(caller, waiter)
      const leave = () => {
        this.#waiting.remove(caller.namespace, own)
        own.byKey.remove(caller.keyId ?? '', waiter)
        this.#countBytes(own, -bytes)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  giveBack(count = 1): void {
    this.#inUse -= count
    while (this.#inUse < this.#options.max()) {
      const own = this.#waiting.shift()
      const next = own?.byKey.shift()
      if (!own || !next) return
      this.#countBytes(own, -next.bytes)
      this.#inUse += next.count
      next.begin()
    }
  }

  #mayWait({ namespace, keyId = '' }: Caller, bytes: number): boolean {
    const max = this.#options.waitingMax
    const waiting = this.#waiting.of(namespace)
    if (this.waiting >= max.all || waiting.length >= max.perNamespace) return false
    const [own] = waiting
    if (own && own.byKey.of(keyId).length >= max.perKey) return false
    const ownBytes = own?.bytes ?? 0
    return ownBytes + bytes <= (max.bytes - this.#bytes + ownBytes) / 2
  }

  #enter({ namespace, keyId = '' }: Caller, waiter: Waiter): NamespaceWaiters {
    const own = this.#waiting.of(namespace)[0] ?? { byKey: new FairQueue<Waiter>(), bytes: 0 }
    this.#waiting.push(namespace, own)
    own.byKey.push(keyId, waiter)
    this.#countBytes(own, waiter.bytes)
    return own
  }

  #countBytes(own: NamespaceWaiters, bytes: number): void {
    own.bytes += bytes
    this.#bytes += bytes
  }
}
