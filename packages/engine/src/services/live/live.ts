// What this process has just committed, for its open streams. Best effort and in memory: a stream that must not
// miss anything takes a ring as "read again" and is told the rest by the store.

import type { RunStatusFrame } from '../../domain/model/change.ts'
import type { Event } from '../../domain/model/event.ts'
import type { StoredFrame } from '../../domain/view/timeline-frames.ts'

/** A status that a run has come to. */
export type RunMove = RunStatusFrame & { runId: string }

export class Live {
  /** By the id of a run: something of it was committed, these frames or (undefined) whatever the store has. */
  readonly runs = new Topic<readonly StoredFrame[] | undefined>()
  /** The status moves of all runs of a namespace, by its name. */
  readonly moves = new Topic<RunMove>()
  /** The events recorded in a namespace, by its name. */
  readonly events = new Topic<Event>()
}

/** The listeners that other engines have. */
export interface Elsewhere<T> {
  has(key: string): boolean
  tell(key: string, told: T): void
  /** Somebody listens to the key on this engine, the first to do so. */
  listened(key: string): void
}

/** Listeners by key. */
export class Topic<T> {
  readonly #listeners = new Map<string, Set<(told: T) => void>>()
  /** To the listeners of other engines, where there are any. */
  elsewhere: Elsewhere<T> | undefined

  /** Calls `listener` with all that is told under the key, until the returned function is called. */
  on(key: string, listener: (told: T) => void): () => void {
    let listeners = this.#listeners.get(key)
    if (!listeners) {
      listeners = new Set()
      this.#listeners.set(key, listeners)
      this.elsewhere?.listened(key)
    }
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(key) === listeners) this.#listeners.delete(key)
    }
  }

  tell(key: string, told: T): void {
    this.hear(key, told)
    if (this.elsewhere?.has(key)) this.elsewhere.tell(key, told)
  }

  /** Tells the listeners of this engine alone. */
  hear(key: string, told: T): void {
    const listeners = this.#listeners.get(key)
    if (listeners) for (const listener of listeners) listener(told)
  }

  /** Whether anybody listens, here or elsewhere. */
  has(key: string): boolean {
    return this.#listeners.has(key) || this.elsewhere?.has(key) === true
  }

  /** What somebody listens to on this engine. */
  get keys(): IterableIterator<string> {
    return this.#listeners.keys()
  }

  /** How many listen, whatever the key. */
  get size(): number {
    let size = 0
    for (const listeners of this.#listeners.values()) size += listeners.size
    return size
  }
}
