// Gathers requests while a batch is under way and sends the next batch the moment the last one is answered: many callers
// share one transaction, and a single caller does not wait. Used for the writer and for SQLite's reader.

import { queuedShare } from '../../../base/heap.ts'
import { EngineError } from '../../../domain/model/errors.ts'
import type { Channel } from './channel.ts'
import { type Answer, type BatchAnswer, isFailure, type Request, weightOf } from './requests.ts'

/** A batch ends with the request that reaches one of these bounds. */
const BATCH_REQUESTS_MAX = 512
const BATCH_WEIGHT_MAX = 4 * 1024 * 1024
/** Beyond these bounds new requests are refused, so that memory stays bounded when the disk is too slow. */
export const QUEUED_REQUESTS_MAX = 20_000
const QUEUED_WEIGHT_MAX = Math.min(256 * 1024 * 1024, queuedShare())

/** 1, 2, 4, ... up to the most requests that a batch can hold. */
const BATCH_BOUNDS = Array.from({ length: Math.log2(BATCH_REQUESTS_MAX) + 1 }, (_, i) => 2 ** i)

/** The `details.reason` of refusals once the store no longer belongs to the engine. */
const STORE_LOST = 'store_lost'

interface Entry {
  request: Request
  weight: number
  resolve(answer: Answer): void
  reject(error: Error): void
}

interface UnderWay {
  entries: Entry[]
  answer: Promise<BatchAnswer>
}

export class BatchQueue {
  readonly #channel: Channel
  readonly #onError: (details: object, message: string) => void
  #waiting: Entry[] = []
  #pending = 0
  #weight = 0
  #running: Promise<void> | undefined
  #broken: EngineError | undefined
  #stopped = false
  readonly stats = { requests: 0, batches: 0, transactions: 0 }
  /** Number of batches by the next power of two of their requests: 1, 2, 4, ... */
  readonly #sizes = Array.from({ length: BATCH_BOUNDS.length + 1 }, () => 0)

  constructor(channel: Channel, onError: (details: object, message: string) => void) {
    this.#channel = channel
    this.#onError = onError
  }

  /** Why the queue accepts no more requests, since its database failed or was lost. */
  get failure(): Error | undefined {
    return this.#broken
  }

  /** Requests not answered yet. */
  get pending(): number {
    return this.#pending
  }

  /** Batches by size, as a histogram. */
  get sizes(): { bounds: readonly number[]; counts: readonly number[]; sum: number } {
    const sum = this.stats.requests - this.#waiting.length
    return { bounds: BATCH_BOUNDS, counts: this.#sizes, sum }
  }

  /** Resolves with the answer, whose type the caller knows. A `refusable` request is refused when too many wait. */
  submit<T>(request: Request, options: { refusable: boolean }): Promise<T> {
    const error = this.#refusal(options.refusable)
    if (error) return Promise.reject(error)
    const weight = weightOf(request)
    this.#pending++
    this.#weight += weight
    this.stats.requests++
    this.#running ??= this.#run()
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ request, weight, resolve: resolve as (answer: Answer) => void, reject })
    })
  }

  /** Refuses new requests, and resolves when the queued ones are answered. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  /** Closes the channel. Called once, after `stop`. */
  close(): Promise<void> {
    return this.#channel.close()
  }

  #refusal(refusable: boolean): Error | undefined {
    if (this.#broken) return this.#broken
    if (this.#stopped) return new EngineError('unavailable', 'The store is closed.')
    if (!refusable || (this.#pending < QUEUED_REQUESTS_MAX && this.#weight < QUEUED_WEIGHT_MAX)) return undefined
    return new EngineError('overloaded', 'The store cannot keep up: too many writes are waiting.')
  }

  async #run(): Promise<void> {
    // The first batch contains all requests that are submitted before the event loop goes on.
    await undefined
    let underWay = this.#post()
    while (underWay) {
      const { entries, answer } = underWay
      try {
        const answered = await answer
        this.#waiting.unshift(...entries.splice(answered.answers.length))
        if (answered.broken !== undefined) this.#break(answered.broken, answered.isLost)
        // The other side goes on before the callers here continue.
        underWay = this.#post()
        this.#settle(entries, answered)
      } catch (error) {
        this.#break(error)
        for (const entry of entries) this.#finish(entry).reject(this.#broken as Error)
        underWay = undefined
      }
    }
    this.#running = undefined
  }

  #post(): UnderWay | undefined {
    if (this.#broken || this.#waiting.length === 0) return undefined
    let count = 0
    for (let weight = 0; count < this.#waiting.length && count < BATCH_REQUESTS_MAX; count++) {
      if (weight >= BATCH_WEIGHT_MAX) break
      weight += (this.#waiting[count] as Entry).weight
    }
    const entries = this.#waiting.splice(0, count)
    this.stats.batches++
    const power = 32 - Math.clz32(count - 1)
    this.#sizes[power] = (this.#sizes[power] ?? 0) + 1
    return { entries, answer: this.#channel.run(entries.map(entry => entry.request)) }
  }

  #settle(entries: Entry[], { answers, transactions }: BatchAnswer): void {
    this.stats.transactions += transactions
    for (const [i, entry] of entries.entries()) {
      const answer = answers[i]
      this.#finish(entry)
      if (isFailure(answer)) entry.reject(this.#failed(answer))
      else entry.resolve(answer)
    }
  }

  #finish(entry: Entry): Entry {
    this.#pending--
    this.#weight -= entry.weight
    return entry
  }

  #failed({ failed, unavailable }: { failed: string; unavailable: boolean }): Error {
    if (this.#broken?.details?.reason === STORE_LOST) return this.#broken
    const cause = new Error(failed)
    this.#onError({ err: cause }, 'a request to the store failed')
    if (unavailable) return new EngineError('unavailable', 'The store is not available.', { cause })
    return new Error(`A request to the store failed: ${failed}`, { cause })
  }

  /** Fails every waiting request and every later one. */
  #break(reason: unknown, isLost = false): void {
    const cause = reason instanceof Error ? reason : new Error(String(reason))
    this.#broken = isLost
      ? new EngineError('unavailable', `The store is lost: ${cause.message}.`, { details: { reason: STORE_LOST } })
      : new EngineError('unavailable', 'The store has failed and accepts no more work: restart the engine.', { cause })
    this.#onError({ err: cause }, 'the store is broken')
    const waiting = this.#waiting
    this.#waiting = []
    for (const entry of waiting) this.#finish(entry).reject(this.#broken)
  }
}
