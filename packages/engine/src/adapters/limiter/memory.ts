// The limiter of a single engine: its state is in memory, and lost when the process ends.

import { lateMs, type Start } from '../../domain/holds/throttle.ts'
import { type Limiter, type Quota, SET_BACK_MS, type StartQuota } from '../../ports/limiter.ts'

/** Most numbers kept, over all keys: about 20 MB. Beyond this the least recently used key is forgotten. */
const LIMITER_ENTRIES_MAX = 1_000_000
/** Keys that each call checks for idleness: more than one, so that more can be removed than are added. */
const SWEPT_PER_CALL = 2

/** The state of one key. */
interface State {
  /** After this time the state has no effect. */
  idleAt: number
  /** How many numbers it has. */
  size: number
}

interface Window extends State {
  /** The times of takes, oldest first, each with their count. Those before index `first` no longer count. */
  takes: { at: number; count: number }[]
  first: number
  /** How many takes count. */
  taken: number
}

interface Starts extends State {
  /** When the next start would be free without a burst. */
  due: number
}

export class MemoryLimiter implements Limiter {
  readonly #windows: Keys<Window>
  readonly #starts: Keys<Starts>

  constructor(options: { entriesMax?: number } = {}) {
    const { entriesMax = LIMITER_ENTRIES_MAX } = options
    this.#windows = new Keys(entriesMax)
    this.#starts = new Keys(entriesMax)
  }

  get entries(): number {
    return this.#windows.size + this.#starts.size
  }

  async take({ key, limit, periodMs, now: requestedAt }: Quota): Promise<boolean> {
    const unused = () => ({ idleAt: 0, size: 0, takes: [], first: 0, taken: 0 })
    const window = this.#windows.get(key, requestedAt) ?? unused()
    const now = expire(window, periodMs, requestedAt)
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
    if (window) expire(window, periodMs, now)
    return window === undefined || window.taken < limit
  }

  async start({ key, limit, periodMs, burst, take, now }: StartQuota): Promise<Start> {
    const spacing = periodMs / limit
    const late = lateMs(spacing)
    const stored = this.#starts.get(key, now)?.due ?? 0
    // No start that was taken so far makes the next one due later than this.
    const isOfLater = stored > now + (burst + 1) * spacing + SET_BACK_MS
    const last = isOfLater ? 0 : stored
    const due = last > now - late ? last : now
    const freeAt = due - burst * spacing
    if (!take || freeAt > now) return { taken: false, freeAt }
    this.#starts.set(key, { due: due + spacing, idleAt: due + spacing + late, size: 0 }, 1)
    return { taken: true, freeAt: freeAt + spacing }
  }

  async close(): Promise<void> {}
}

/**
 * Removes the takes that no longer count from the window's total. Returns the time, which never runs backwards. The takes' memory
 * is freed once it is half of the window's, not on every call.
 */
function expire(window: Window, periodMs: number, requestedAt: number): number {
  const newest = window.takes.at(-1)?.at ?? requestedAt
  if (newest - requestedAt > SET_BACK_MS) {
    window.takes = []
    window.first = 0
    window.taken = 0
    return requestedAt
  }
  const now = Math.max(requestedAt, newest)
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

/** A bounded map of states, in the order of their last use. */
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

  /** Stores the state, which now has `size` numbers, and removes the least recently used states if there are too many. */
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
