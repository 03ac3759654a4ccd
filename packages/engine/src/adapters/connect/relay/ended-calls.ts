// Calls of other engines that ended on this host, or that it reported as unknown: an invoke that arrives twice or late is
// not carried out. Owned by host.ts for a while, in two generations.

/** Ids of one generation. When there are more, the older generation is forgotten early. */
const GENERATION_IDS_MAX = 50_000

export class EndedCalls {
  #young = new Map<string, boolean>()
  #old = new Map<string, boolean>()

  /** `mayHaveRun`: a runner may have received the call. */
  add(id: string, mayHaveRun: boolean): void {
    if (this.#young.size >= GENERATION_IDS_MAX) this.rotate()
    this.#young.set(id, mayHaveRun || this.mayHaveRun(id))
  }

  has(id: string): boolean {
    return this.#young.has(id) || this.#old.has(id)
  }

  mayHaveRun(id: string): boolean {
    return this.#young.get(id) ?? this.#old.get(id) ?? false
  }

  /** Starts a generation, and forgets the one before the last. */
  rotate(): void {
    this.#old = this.#young
    this.#young = new Map()
  }
}
