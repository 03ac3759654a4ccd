// Rings the open streams of this process when a commit touched their run. A ring says "read again", nothing more:
// the store tells the frames, so a lost or doubled ring costs only time.

export class Live {
  readonly #listeners = new Map<string, Set<() => void>>()

  onRun(runId: string, onRing: () => void): () => void {
    let listeners = this.#listeners.get(runId)
    if (!listeners) {
      listeners = new Set()
      this.#listeners.set(runId, listeners)
    }
    listeners.add(onRing)
    return () => {
      listeners.delete(onRing)
      if (listeners.size === 0 && this.#listeners.get(runId) === listeners) this.#listeners.delete(runId)
    }
  }

  ring(runId: string): void {
    const listeners = this.#listeners.get(runId)
    if (listeners) for (const onRing of listeners) onRing()
  }

  /** How many runs are listened to. */
  get size(): number {
    return this.#listeners.size
  }
}
