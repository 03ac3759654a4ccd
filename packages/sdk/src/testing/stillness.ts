// Knows when nothing more can happen at the present virtual time: no request, no pass, and an engine at rest. The
// kit waits here before it reads anything and before it moves the clock.

import { TestingError } from './errors.ts'
import { afterReal, nextTurn, realNow } from './real-time.ts'

/** Turns of the event loop in which everything is at rest: what one turn let loose shows in the next. */
const STILL_TURNS = 2

export interface StillnessOptions {
  /** Real time without any progress after which waiting is given up. */
  patienceMs: number
  /** How many passes are held back by the test: they are at rest. */
  held(): number
  /** Whether the engine has nothing in hand but those. */
  isIdle(): boolean
  /** What is under way now, for the message when patience ends. */
  underWay(): string[]
}

export class Stillness {
  readonly #options: StillnessOptions
  #inFlight = 0
  readonly #waiting = new Set<() => void>()

  constructor(options: StillnessOptions) {
    this.#options = options
  }

  /** Something is under way from now on, until what is returned is called. */
  begin(): () => void {
    this.#inFlight++
    let ended = false
    return () => {
      if (ended) return
      ended = true
      this.#inFlight--
      this.progress()
    }
  }

  /** Something is under way until the promise settles. */
  async during<T>(work: Promise<T>): Promise<T> {
    const end = this.begin()
    try {
      return await work
    } finally {
      end()
    }
  }

  /** Something went on: patience begins anew. */
  progress(): void {
    for (const resolve of [...this.#waiting]) resolve()
  }

  /** Resolves when all is still. Rejects with a TestingError that says what hangs when patience ends. */
  async reached(): Promise<void> {
    let busySince: number | undefined
    for (let still = 0; still < STILL_TURNS; ) {
      if (this.#isBusy()) {
        await this.#change()
        still = 0
        busySince = undefined
        continue
      }
      await nextTurn()
      if (!this.#isBusy() && this.#options.isIdle()) {
        still++
        continue
      }
      still = 0
      busySince ??= realNow()
      if (realNow() - busySince > this.#options.patienceMs) throw this.#stuck()
    }
  }

  #isBusy(): boolean {
    return this.#inFlight > this.#options.held()
  }

  /** Resolves at the next progress. */
  #change(): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#waiting.delete(end)
        cancel()
        resolve()
      }
      const cancel = afterReal(this.#options.patienceMs, () => {
        this.#waiting.delete(end)
        reject(this.#stuck())
      })
      this.#waiting.add(end)
    })
  }

  #stuck(): TestingError {
    const lines = this.#options.underWay().map(line => `\n  ${line}`)
    return new TestingError(
      `Nothing has moved for ${this.#options.patienceMs} ms of real time (option patienceMs). Under way:${
        lines.length > 0 ? lines.join('') : ' the engine itself'
      }`,
    )
  }
}
