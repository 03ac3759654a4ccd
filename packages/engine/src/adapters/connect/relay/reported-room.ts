// How many invokes the runners of another engine would take at once, as that engine told it, less what was sent since.
// A word of it may be lost: what was told is believed for a while only, and what nobody told has room.

/** Turns for which what was told is believed; a runner without room is told of again at every turn. */
const BELIEVED_TURNS = 3

interface Told {
  free: number
  turns: number
}

export class ReportedRoom {
  readonly #told = new Map<string, Told>()

  told(url: string, free: number): void {
    this.#told.set(url, { free, turns: 0 })
  }

  /** Undefined when nobody told. */
  free(url: string): number | undefined {
    const told = this.#told.get(url)
    return told && Math.max(0, told.free)
  }

  has(url: string): boolean {
    return this.free(url) !== 0
  }

  /** One invoke more is on its way. */
  took(url: string): void {
    const told = this.#told.get(url)
    if (told) told.free--
  }

  turn(): void {
    for (const [url, told] of this.#told) if (++told.turns >= BELIEVED_TURNS) this.#told.delete(url)
  }
}
