// A binary heap of the step calls that can be settled; returns the one that comes first in the memo. A fan-out may call
// thousands of steps at once. Used by the memo.

interface Ordered {
  readonly order: number
}

export class SettleOrder<Item extends Ordered> {
  readonly #heap: Item[] = []

  get size(): number {
    return this.#heap.length
  }

  push(item: Item): void {
    const heap = this.#heap
    let at = heap.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent] as Item
      if (above.order <= item.order) break
      heap[at] = above
      at = parent
    }
    heap[at] = item
  }

  /** Removes and returns the item with the lowest order. */
  pop(): Item | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && (heap[child + 1] as Item).order < (heap[child] as Item).order) child++
      if ((heap[child] as Item).order >= last.order) break
      heap[at] = heap[child] as Item
      at = child
    }
    heap[at] = last
    return first
  }
}
