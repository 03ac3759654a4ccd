// A mutex for each key. Callers that lost a race over one row take it before they try again: n callers need n commits one after
// the other, but n² at once. Used by services/commit/decide-and-commit, and by services/pass for the starts of a throttle.

export class KeyMutex {
  /** By key: resolves when the last caller has released it. */
  readonly #released = new Map<string, Promise<void>>()

  /**
   * Resolves when all earlier callers have released the key. The caller must call the returned function, which releases the
   * key.
   */
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
