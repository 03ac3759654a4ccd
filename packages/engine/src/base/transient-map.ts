// A map for entries that come and go by the thousand: the runs, passes and calls under way. Used wherever such an
// entry holds more than a number.

/**
 * Works like `Map`, in the order of insertion, but holds the values in an array beside it, whose places are used again.
 *
 * A `Map` that is added to and deleted from outgrows its hash table every few hundred entries and leaves it behind, with
 * every value that was in it then and with a link to the table that came after. One such table that has become old
 * garbage keeps all later ones alive, and so everything they ever held, until the next full collection: most of what a
 * young collection copied was runs that had long ended. Here the tables hold keys and numbers only.
 */
export class TransientMap<K extends string | number, V extends object> {
  readonly #places = new Map<K, number>()
  readonly #values: (V | undefined)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#places.size
  }

  has(key: K): boolean {
    return this.#places.has(key)
  }

  get(key: K): V | undefined {
    const place = this.#places.get(key)
    return place === undefined ? undefined : this.#values[place]
  }

  set(key: K, value: V): void {
    let place = this.#places.get(key)
    if (place === undefined) {
      place = this.#free.pop() ?? this.#values.length
      this.#places.set(key, place)
    }
    this.#values[place] = value
  }

  /** False when there was no such entry. */
  delete(key: K): boolean {
    const place = this.#places.get(key)
    if (place === undefined) return false
    this.#places.delete(key)
    this.#values[place] = undefined
    this.#free.push(place)
    return true
  }

  /** In the order of insertion. Entries may come and go meanwhile, as with `Map`. */
  *values(): IterableIterator<V> {
    for (const place of this.#places.values()) yield this.#values[place] as V
  }

  *entries(): IterableIterator<[K, V]> {
    for (const [key, place] of this.#places) yield [key, this.#values[place] as V]
  }
}
