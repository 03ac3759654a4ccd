// The order of polite messages to screen readers: one in five seconds, so that what moves by itself does not talk without end.

/** From one polite message to the next, at least. */
export const POLITE_GAP_MS = 5000

export class PoliteTurns {
  #waiting: (() => void)[] = []
  #freeAt = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Calls `onTurn` once, when its message may be spoken. `isFirst` passes those that wait already. Returns the way to leave. */
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
