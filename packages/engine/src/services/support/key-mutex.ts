// Lines of those who lost a race over one row: n rivals that take turns need n commits, where n that all try at once
// need n². Used by services/commit/decide-and-commit.

export class KeyMutex {
  /** By key: resolves when the last in line has ended its turn. */
  readonly #lines = new Map<string, Promise<void>>()

  /** Resolves when all who asked before have ended theirs; answers what ends this one. It must be called. */
  async next(key: string): Promise<() => void> {
    const before = this.#lines.get(key)
    let resolve = () => {}
    const ended = new Promise<void>(done => {
      resolve = done
    })
    this.#lines.set(key, ended)
    await before
    return () => {
      if (this.#lines.get(key) === ended) this.#lines.delete(key)
      resolve()
    }
  }
}
