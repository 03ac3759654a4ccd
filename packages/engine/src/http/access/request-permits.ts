// Requests of a kind that may be under way at once. Further ones wait for a permit. Used by the routes of statistics.

import { EngineError } from '../../domain/model/errors.ts'

/** Requests that wait for a permit; further ones are refused. */
const WAITING_MAX = 100

export class RequestPermits {
  readonly #max: number
  #taken = 0
  readonly #waiting: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  /** Carries out the work with a permit. Rejects with `overloaded` when too many wait, or with the reason of the signal. */
  async with<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#max) this.#taken++
    else await this.#turn(signal)
    try {
      return await work()
    } finally {
      // The permit is the next one's, or free.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#taken--
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= WAITING_MAX)
      return Promise.reject(new EngineError('overloaded', 'too many statistics are asked for: try again later'))
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        const at = this.#waiting.indexOf(begin)
        if (at >= 0) this.#waiting.splice(at, 1)
        reject(signal.reason)
      }
      this.#waiting.push(begin)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
