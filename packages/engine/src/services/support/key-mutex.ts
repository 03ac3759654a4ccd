// A mutex for each key: callers with the same key go one after the other. Used for the starts of a throttle (services/pass), for runs with a key
// (services/run/start) and for the deletion of a workflow.

export class KeyMutex {
  /** By key: resolves when the last caller has released it. */
  readonly #released = new Map<string, Promise<void>>()

  /** Resolves when all earlier callers have released the key. The answered function releases it, and must be called. */
  async acquire(key: string): Promise<() => void> {
    const before = this.#released.get(key)
    let resolve = () => {}
    const released = new Promise<void>(done => {
      resolve = done
    })
    this.#released.set(key, released)
    await before
    return () => {
      if (this.#released.get(key) === released) this.#released.delete(key)
      resolve()
    }
  }
}
