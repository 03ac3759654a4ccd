// Holds an engine back (docs/operating.md#hold-an-engine): it answers and accepts requests, but starts no work of its own until it is
// released. Compose starts the lanes then.

export class EngineHold {
  #isHeld: boolean
  #start: () => void = () => {}

  constructor(isHeld: boolean) {
    this.#isHeld = isHeld
  }

  /** Whether nothing is claimed, fired or delivered. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Calls `start` once: now, or when the engine is released. */
  whenReleased(start: () => void): void {
    if (this.#isHeld) this.#start = start
    else start()
  }

  /** Answers whether the engine was held. */
  release(): boolean {
    if (!this.#isHeld) return false
    this.#isHeld = false
    this.#start()
    return true
  }
}
