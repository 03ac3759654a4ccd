// Messages of a runner process to its parent: finished and parked runs in one message per tick, and answers to requests.

/** Messages from a runner to its parent. */
export type RunnerMessage =
  | { kind: 'listening'; port: number }
  | { kind: 'connected'; problem?: string }
  | { kind: 'left'; finished: number[]; parked: number[] }
  | { kind: 'counted'; passes: number; failed: number }

export class Reports {
  #finished: number[] = []
  #parked: number[] = []
  #isScheduled = false

  send(message: RunnerMessage): void {
    process.send?.(message)
  }

  /** Reports that run `n` has left the load's loop. */
  left(what: 'finished' | 'parked', n: number): void {
    if (what === 'finished') this.#finished.push(n)
    else this.#parked.push(n)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.send({ kind: 'left', finished: this.#finished, parked: this.#parked })
      this.#finished = []
      this.#parked = []
    })
  }
}
