// A permit is the right of one piece of work to be under way. It is taken before the work begins and given back when it ends.
// Every bound on work under way counts its permits here, or in domain/pass/permits where namespaces share them fairly.

/** The permits of one kind of work on this engine, for example its deliveries. They limit memory, sockets and unfinished work. */
export class Permits {
  readonly max: number
  #inUse = 0
  readonly #returns = new Returns()

  constructor(max: number) {
    this.max = max
  }

  get inUse(): number {
    return this.#inUse
  }

  /** The number of free permits. */
  get room(): number {
    return this.max - this.#inUse
  }

  /** Takes permits; each needs one `giveBack`. The caller has checked `room`, or may exceed it. */
  take(count = 1): void {
    this.#inUse += count
  }

  giveBack(count = 1): void {
    this.#inUse -= count
    this.#returns.notify()
  }

  /** Resolves when there is room, or on abort. */
  waitForRoom(signal: AbortSignal): Promise<void> {
    return this.#returns.until(() => this.room > 0, signal)
  }

  /** Resolves when no permit is in use. */
  waitUntilIdle(): Promise<void> {
    return this.#returns.until(() => this.#inUse === 0)
  }
}

/** Permits that are counted by key, for example by the URL of a runner. */
export class KeyPermits {
  /** A key without permits in use has no entry. */
  readonly #inUse = new Map<string, number>()

  inUseBy(key: string): number {
    return this.#inUse.get(key) ?? 0
  }

  /** Takes a permit, which needs one `giveBack` of its key. */
  take(key: string): void {
    this.#inUse.set(key, this.inUseBy(key) + 1)
  }

  giveBack(key: string): void {
    const left = this.inUseBy(key) - 1
    if (left > 0) this.#inUse.set(key, left)
    else this.#inUse.delete(key)
  }
}

/** Callers that wait until permits are given back. */
export class Returns {
  readonly #waiting = new Set<() => void>()

  notify(): void {
    if (this.#waiting.size > 0) for (const done of [...this.#waiting]) done()
  }

  /** Resolves when the condition holds, or on abort. The condition is checked now and at every `notify`. */
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
