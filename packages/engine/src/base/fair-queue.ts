// A queue in which keys take turns, for example namespaces: the key whose last turn was longest ago is next. Used where the
// work of one namespace must not delay the others: posts, scans, and decisions that evaluate expressions.

export class FairQueue<Item> {
  /** The items of each key in the order of their arrival. The key with the next turn is first. */
  readonly #keys = new Map<string, Item[]>()
  #count = 0

  /** The number of items of all keys. */
  get count(): number {
    return this.#count
  }

  /** The items of the key in the order of their arrival. */
  of(key: string): readonly Item[] {
    return this.#keys.get(key) ?? []
  }

  push(key: string, item: Item): void {
    const own = this.#keys.get(key)
    if (own) own.push(item)
    else this.#keys.set(key, [item])
    this.#count++
  }

  /** Removes the item; false if it is not in the queue. */
  remove(key: string, item: Item): boolean {
    const own = this.#keys.get(key)
    const at = own?.indexOf(item) ?? -1
    if (!own || at < 0) return false
    own.splice(at, 1)
    if (own.length === 0) this.#keys.delete(key)
    this.#count--
    return true
  }

  /** Removes the oldest item of the key whose turn it is. The key then goes behind all others. */
  shift(): Item | undefined {
    for (const [key, own] of this.#keys) {
      const item = own.shift()
      this.#count--
      this.endTurn(key)
      return item
    }
    return undefined
  }

  /** Returns the first result of `pick`, which gets the items of one key after the other, in the order of their turns. */
  find<Found>(pick: (items: readonly Item[], key: string) => Found | undefined): Found | undefined {
    for (const [key, own] of this.#keys) {
      const found = pick(own, key)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Puts the key behind all others. */
  endTurn(key: string): void {
    const own = this.#keys.get(key)
    if (!own) return
    this.#keys.delete(key)
    if (own.length > 0) this.#keys.set(key, own)
  }
}
