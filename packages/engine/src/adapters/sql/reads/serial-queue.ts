// Runs work one at a time, in the order of the calls: keeps a hundred searches from filling the reader's queue together.

export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  /** Runs `work` when all earlier work has settled, and answers its result. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }
}
