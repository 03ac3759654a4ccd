// Detects quiescence: nothing more can happen at the current virtual time, because no request and no pass is in flight and the
// engine is idle. The kit waits for quiescence before each read and before it moves the clock.

import { TestingError } from './errors.ts'
import { afterReal, nextTurn, realNow } from './real-time.ts'

/** Number of idle turns of the event loop in a row that proves quiescence: work that one turn starts is visible in the next. */
const QUIET_TURNS = 2

interface QuiescenceOptions {
  /** Milliseconds of real time without any progress after which `reached()` rejects. */
  patienceMs: number
  /** The number of passes that the test holds back. They count as idle. */
  held(): number
  /** Whether the engine does nothing except held passes. */
  isIdle(): boolean
  /** Describes the current work, for the error message. */
  underWay(): string[]
}

export class Quiescence {
  readonly #options: QuiescenceOptions
  #inFlight = 0
  readonly #waiting = new Set<() => void>()

  constructor(options: QuiescenceOptions) {
    this.#options = options
  }

  /** Begins a piece of work. It ends when the returned function is called. */
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

  /** Counts a promise as work in flight until it settles. */
  async during<T>(work: Promise<T>): Promise<T> {
    const end = this.begin()
    try {
      return await work
    } finally {
      end()
    }
  }

  /** Reports progress: `patienceMs` is counted from now. */
  progress(): void {
    for (const resolve of [...this.#waiting]) resolve()
  }

  /** Resolves at quiescence. Rejects with a TestingError that lists the work in flight if nothing progresses. */
  async reached(): Promise<void> {
    let busySince: number | undefined
    for (let quietTurns = 0; quietTurns < QUIET_TURNS; ) {
      if (this.#isBusy()) {
        await this.#nextProgress()
        quietTurns = 0
        busySince = undefined
        continue
      }
      await nextTurn()
      if (!this.#isBusy() && this.#options.isIdle()) {
        quietTurns++
        continue
      }
      quietTurns = 0
      busySince ??= realNow()
      if (realNow() - busySince > this.#options.patienceMs) throw this.#stuck()
    }
  }

  #isBusy(): boolean {
    return this.#inFlight > this.#options.held()
  }

  #nextProgress(): Promise<void> {
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
