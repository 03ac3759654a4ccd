// The heights of the cards of a list: measured while a card is in the document, guessed before.

import type { Places } from './places.ts'

/** A card of two lines. */
const GUESS_PX = 72
/** Maximum number of heights kept; beyond it all are forgotten together. */
const HEIGHTS_MAX = 20_000

export class CardHeights {
  readonly #heights = new Map<string, number>()
  #guessPx = GUESS_PX

  /** Notes measured heights. Returns whether any of them is new. */
  note(measured: readonly (readonly [key: string, px: number])[]): boolean {
    if (this.#heights.size > HEIGHTS_MAX) this.#heights.clear()
    const fresh = measured.filter(([key, px]) => this.#heights.get(key) !== px)
    // The first cards show how high the others may be. A later guess would move cards that were scrolled past.
    if (this.#heights.size === 0 && fresh.length > 0)
      this.#guessPx = Math.round(fresh.reduce((sum, [, px]) => sum + px, 0) / fresh.length)
    for (const [key, px] of fresh) this.#heights.set(key, px)
    return fresh.length > 0
  }

  /** Returns the places of the cards with these keys. */
  placesOf(keys: readonly string[]): Places {
    const tops = new Float64Array(keys.length + 1)
    for (const [i, key] of keys.entries()) tops[i + 1] = (tops[i] as number) + (this.#heights.get(key) ?? this.#guessPx)
    return { topOf: index => tops[index] ?? 0, indexAt: px => lastAtMost(tops, px) }
  }
}

/** Returns the index of the last of the ascending values that is at most this one; 0 if there is none. */
function lastAtMost(values: Float64Array, value: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] as number) <= value) low = middle + 1
    else high = middle
  }
  return Math.max(0, low - 1)
}
