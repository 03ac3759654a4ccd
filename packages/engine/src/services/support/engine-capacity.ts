// How many things this engine has under way at once: a bound on memory, sockets and unfinished work.

/** Counts what is under way, runs or deliveries. */
export class EngineCapacity {
  readonly #max: number
  #taken = 0
  readonly #waiting = new Set<() => void>()

  constructor(max: number) {
    this.#max = max
  }

  get taken(): number {
    return this.#taken
  }

  get room(): number {
    return this.#max - this.#taken
  }

  /** False when all are taken. */
  take(): boolean {
    if (this.#taken >= this.#max) return false
    this.#taken++
    return true
  }

  free(): void {
    this.#taken--
    this.#tell()
  }

  /** Resolves when a slot is free, or on abort. */
  async hasRoom(signal: AbortSignal): Promise<void> {
    while (this.room <= 0 && !signal.aborted) await this.#change(signal)
  }

  /** Resolves when none is taken. */
  async idle(): Promise<void> {
    while (this.#taken > 0) await this.#change()
  }

  #change(signal?: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const done = () => {
        this.#waiting.delete(done)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      this.#waiting.add(done)
      signal?.addEventListener('abort', done)
    })
  }

  #tell(): void {
    if (this.#waiting.size === 0) return
    for (const done of [...this.#waiting]) done()
  }
}
