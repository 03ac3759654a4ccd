// The order of polite messages to screen readers: one in five seconds, so that live content does not talk without end.

/** Minimum time between two polite messages. */
export const POLITE_GAP_MS = 5000

export class PoliteTurns {
  #waiting: (() => void)[] = []
  #freeAt = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined

  /**
   * Calls `onTurn` once, when its message may be spoken. `isFirst` overtakes messages that already wait. Returns a function that
   * leaves the queue.
   */
  ask(onTurn: () => void, { isFirst = false } = {}): () => void {
    if (isFirst) this.#waiting.unshift(onTurn)
    else this.#waiting.push(onTurn)
    this.#plan()
    return () => {
      this.#waiting = this.#waiting.filter(each => each !== onTurn)
    }
  }

  #plan(): void {
    this.#timer ??= setTimeout(() => this.#next(), Math.max(0, this.#freeAt - performance.now()))
  }

  #next(): void {
    this.#timer = undefined
    const onTurn = this.#waiting.shift()
    if (onTurn === undefined) return
    this.#freeAt = performance.now() + POLITE_GAP_MS
    onTurn()
    if (this.#waiting.length > 0) this.#plan()
  }
}

/** The turns of this tab. */
export const politeTurns = new PoliteTurns()
