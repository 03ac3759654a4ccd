// A map for entries that are added and removed by the thousand: the runs, passes and calls under way. Used where the values of
// such a map are objects.

/**
 * Works like `Map`, in the order of insertion, but keeps the values in a separate array, whose places are reused.
 *
 * A `Map` with many additions and deletions replaces its hash table every few hundred entries. The old table still has
 * its values, and a link to the next table. Once such a table is in the old generation of the heap, it keeps all later
 * tables and their values alive until the next full garbage collection: most objects that a young collection copied were
 * runs that had long ended. Here the tables have only keys and numbers.
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

  keys(): IterableIterator<K> {
    return this.#places.keys()
  }

  /** In the order of insertion. Entries may be added and removed during the iteration, as with `Map`. */
  *values(): IterableIterator<V> {
    for (const place of this.#places.values()) yield this.#values[place] as V
  }

  *entries(): IterableIterator<[K, V]> {
    for (const [key, place] of this.#places) yield [key, this.#values[place] as V]
  }
}
