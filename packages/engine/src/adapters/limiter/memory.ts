// The limiter of an engine that is alone: everything in memory, and forgotten when the process ends.

import { lateMs, type Start } from '../../domain/holds/throttle.ts'
import type { Limiter, Quota, StartQuota } from '../../ports/limiter.ts'

/** Most numbers kept, over all keys: some 20 MB. Beyond it the key asked longest ago is forgotten. */
export const ENTRIES_MAX = 1_000_000
/** Keys looked at on each call, to drop those that have become idle: more than one, so that sweeping gains on filling. */
const SWEPT_PER_CALL = 2

/** What is known of one key. `idleAt`: from then on it means nothing. */
interface State {
  idleAt: number
  /** How many numbers it holds. */
  size: number
}

interface Window extends State {
  /** Times of takes, oldest first, each with how many there were. Those before `first` count no more. */
  takes: { at: number; count: number }[]
  first: number
  /** How many count. */
  taken: number
}

interface Starts extends State {
  /** When the next start would come without any burst. */
  due: number
}

export class MemoryLimiter implements Limiter {
  readonly #windows: Keys<Window>
  readonly #starts: Keys<Starts>

  constructor(options: { entriesMax?: number } = {}) {
    const { entriesMax = ENTRIES_MAX } = options
    this.#windows = new Keys(entriesMax)
    this.#starts = new Keys(entriesMax)
  }

  /** Numbers it holds now. */
  get entries(): number {
    return this.#windows.size + this.#starts.size
  }

  async take({ key, limit, periodMs, now: asked }: Quota): Promise<boolean> {
    const window = this.#windows.get(key, asked) ?? { idleAt: 0, size: 0, takes: [], first: 0, taken: 0 }
    const now = recall(window, periodMs, asked)
    const admitted = window.taken < limit
    if (admitted) {
      const last = window.takes.at(-1)
      if (last?.at === now) last.count++
      else window.takes.push({ at: now, count: 1 })
      window.taken++
      window.idleAt = now + periodMs
    }
    this.#windows.set(key, window, 1 + window.takes.length)
    return admitted
  }

  async peek({ key, limit, periodMs, now }: Quota): Promise<boolean> {
    const window = this.#windows.get(key, now)
    if (window) recall(window, periodMs, now)
    return window === undefined || window.taken < limit
  }

  async start({ key, limit, periodMs, burst, take, now }: StartQuota): Promise<Start> {
    const spacing = periodMs / limit
    const late = lateMs(spacing)
    const last = this.#starts.get(key, now)?.due ?? 0
    const due = last > now - late ? last : now
    const freeAt = due - burst * spacing
    if (!take || freeAt > now) return { taken: false, freeAt }
    this.#starts.set(key, { due: due + spacing, idleAt: due + spacing + late, size: 0 }, 1)
    return { taken: true, freeAt: freeAt + spacing }
  }

  async close(): Promise<void> {}
}

/**
 * Takes that are over count no more; answers the time, which does not run backwards. Their room is given back once it
 * is half of all, not on every call.
 */
function recall(window: Window, periodMs: number, asked: number): number {
  const now = Math.max(asked, window.takes.at(-1)?.at ?? asked)
  for (;;) {
    const take = window.takes[window.first]
    if (take === undefined || take.at + periodMs > now) break
    window.taken -= take.count
    window.first++
  }
  if (window.first * 2 >= window.takes.length) {
    window.takes.splice(0, window.first)
    window.first = 0
  }
  return now
}

/** A bounded map of states: the one used longest ago is first. */
class Keys<S extends State> {
  readonly #entriesMax: number
  readonly #states = new Map<string, S>()
  #sweep = this.#states.entries()
  #size = 0

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  get size(): number {
    return this.#size
  }

  get(key: string, now: number): S | undefined {
    for (let i = 0; i < SWEPT_PER_CALL; i++) this.#sweepOne(now)
    return this.#states.get(key)
  }

  /** Keeps the state, which now holds `size` numbers, and forgets others if there are too many. */
  set(key: string, state: S, size: number): void {
    this.#delete(key)
    state.size = size
    this.#states.set(key, state)
    this.#size += size
    for (const oldest of this.#states.keys()) {
      if (this.#size <= this.#entriesMax || oldest === key) return
      this.#delete(oldest)
    }
  }

  #sweepOne(now: number): void {
    const next = this.#sweep.next()
    if (next.done) {
      this.#sweep = this.#states.entries()
      return
    }
    const [key, { idleAt }] = next.value
    if (idleAt <= now) this.#delete(key)
  }

  #delete(key: string): void {
    const state = this.#states.get(key)
    if (!state) return
    this.#size -= state.size
    this.#states.delete(key)
  }
}
