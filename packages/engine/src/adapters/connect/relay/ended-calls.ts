// Calls of other engines that are over here, or that were called unknown: an invoke that is heard again, or late, is not
// carried out. Kept by the host for a while.

/** Ids of a generation; more, and the older generation is forgotten early. */
const IDS_MAX = 50_000

export class EndedCalls {
  #young = new Map<string, boolean>()
  #old = new Map<string, boolean>()

  /** `isDone`: a runner may have had it. */
  add(id: string, mayHaveRun: boolean): void {
    if (this.#young.size >= IDS_MAX) this.turn()
    this.#young.set(id, mayHaveRun || this.isDone(id))
  }

  has(id: string): boolean {
    return this.#young.has(id) || this.#old.has(id)
  }

  isDone(id: string): boolean {
    return this.#young.get(id) ?? this.#old.get(id) ?? false
  }

  /** Forgets what was added before the turn before this one. */
  turn(): void {
    this.#old = this.#young
    this.#young = new Map()
  }
}
