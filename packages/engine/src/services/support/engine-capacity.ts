// Counts one kind of work under way (passes, deliveries or timers) and bounds it, to limit memory, sockets and unfinished work.

export class EngineCapacity {
  readonly #max: number
  #inUse = 0
  readonly #waiting = new Set<() => void>()

  constructor(max: number) {
    this.#max = max
  }

  get inUse(): number {
    return this.#inUse
  }

  get room(): number {
    return this.#max - this.#inUse
  }

  /** False when there is no room. Every success needs one `release`. */
  tryAcquire(): boolean {
    if (this.#inUse >= this.#max) return false
    this.#inUse++
    return true
  }

  release(): void {
    this.#inUse--
    if (this.#waiting.size > 0) for (const done of [...this.#waiting]) done()
  }

  /** Resolves when there is room, or on abort. */
  async waitForRoom(signal: AbortSignal): Promise<void> {
    while (this.room <= 0 && !signal.aborted) await this.#nextRelease(signal)
  }

  /** Resolves when nothing is under way. */
  async waitUntilIdle(): Promise<void> {
    while (this.#inUse > 0) await this.#nextRelease()
  }

  #nextRelease(signal?: AbortSignal): Promise<void> {
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
}
