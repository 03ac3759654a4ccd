// Counts one kind of work under way (deliveries or timers) and bounds it, to limit memory, sockets and unfinished work.

export class EngineCapacity {
  readonly max: number
  #inUse = 0
  readonly #releases = new Releases()

  constructor(max: number) {
    this.max = max
  }

  get inUse(): number {
    return this.#inUse
  }

  get room(): number {
    return this.max - this.#inUse
  }

  /** Needs one `release`. Only for work that was claimed within `room`. */
  acquire(): void {
    this.#inUse++
  }

  release(): void {
    this.#inUse--
    this.#releases.notify()
  }

  /** Resolves when there is room, or on abort. */
  waitForRoom(signal: AbortSignal): Promise<void> {
    return this.#releases.until(() => this.room > 0, signal)
  }

  /** Resolves when nothing is under way. */
  waitUntilIdle(): Promise<void> {
    return this.#releases.until(() => this.#inUse === 0)
  }
}

/** Callers that wait for a release. */
export class Releases {
  readonly #waiting = new Set<() => void>()

  notify(): void {
    if (this.#waiting.size > 0) for (const done of [...this.#waiting]) done()
  }

  /** Resolves when the condition holds, which is checked now and at every release, or on abort. */
  async until(holds: () => boolean, signal?: AbortSignal): Promise<void> {
    while (!holds() && !signal?.aborted) await this.#next(signal)
  }

  #next(signal?: AbortSignal): Promise<void> {
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
