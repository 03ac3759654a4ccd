// One at a time, in the order they came: keeps a hundred searches from standing in the reader's queue together.

export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  /** Does `work` when all that came before has settled, and answers what it answers. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }
}
