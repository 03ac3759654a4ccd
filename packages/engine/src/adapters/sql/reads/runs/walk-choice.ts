// Which of several walks makes the next read of a page of runs. Called by the list of runs.

import { timeOfId } from '../../../../domain/text/ids.ts'

/** After this many reads every walk is measured again: runs of other times may be distributed differently. */
const MEASURED_FOR_READS = 16

/**
 * Chooses among walks that find the same runs in the order of ids, so that any of them can continue where another stopped. The
 * walk along the index with the fewest runs gets furthest for its cost, and only reads show which one that is.
 */
export class WalkChoice {
  /** By walk, the milliseconds of the list that it passes per cost; undefined until the walk is measured. */
  readonly #reaches: (number | undefined)[]
  #current = 0
  #reads = 0

  constructor(walks: number) {
    this.#reaches = Array.from({ length: walks }, () => undefined)
  }

  /** The index of the walk for the next read; it begins with the first. */
  get current(): number {
    return this.#current
  }

  /** Notes the cost of the current walk between two ids. The start of the first read is unknown. */
  wentOn(from: string | undefined, to: string, cost: number): void {
    if (this.#reaches.length === 1) return
    if (++this.#reads % MEASURED_FOR_READS === 0) this.#reaches.fill(undefined)
    if (from !== undefined) this.#reaches[this.#current] = Math.abs(timeOfId(to) - timeOfId(from)) / cost
    const unmeasured = this.#reaches.indexOf(undefined)
    this.#current = unmeasured >= 0 ? unmeasured : this.#reaches.indexOf(Math.max(...(this.#reaches as number[])))
  }
}
