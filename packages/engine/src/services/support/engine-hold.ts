// Holds an engine (docs/operating.md#hold-an-engine): it answers and accepts requests, but starts no work of its own until it
// is released. Compose then starts the lanes.

export class EngineHold {
  #isHeld: boolean
  #start: () => void = () => {}

  constructor(isHeld: boolean) {
    this.#isHeld = isHeld
  }

  /** Whether the engine claims, fires and delivers nothing. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Calls `start` once: now, or when the engine is released. */
  whenReleased(start: () => void): void {
    if (this.#isHeld) this.#start = start
    else start()
  }

  /** Releases the engine, and returns whether it was held. */
  release(): boolean {
    if (!this.#isHeld) return false
    this.#isHeld = false
    this.#start()
    return true
  }
}
