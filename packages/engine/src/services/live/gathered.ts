// Gathers items for a moment, the last one of each key, so that they are sent together. Used by live-share.ts.

import type { Clock } from '../../ports/clock.ts'

interface GatheredOptions<T> {
  clock: Pick<Clock, 'after'>
  /** Time from the first item to the flush of all. */
  ms: number
  flush(items: Iterable<T>): void
}

/** If there are more items than this, they are flushed earlier. */
const ITEMS_MAX = 10_000

export class Gathered<T> {
  readonly #options: GatheredOptions<T>
  readonly #items = new Map<string, T>()
  #cancel = (): void => {}
  #isStopped = false

  constructor(options: GatheredOptions<T>) {
    this.#options = options
  }

  set(key: string, item: T): void {
    if (this.#isStopped) return
    if (this.#items.size === 0) this.#cancel = this.#options.clock.after(this.#options.ms, () => this.#flush())
    this.#items.set(key, item)
    if (this.#items.size >= ITEMS_MAX) this.#flush()
  }

  /** Discards what was gathered, and all later items. */
  stop(): void {
    this.#isStopped = true
    this.#cancel()
    this.#items.clear()
  }

  #flush(): void {
    this.#cancel()
    const items = [...this.#items.values()]
    this.#items.clear()
    this.#options.flush(items)
  }
}
