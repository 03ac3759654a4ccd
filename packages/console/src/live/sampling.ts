// Decides when rows only show their status: more frames arrive than can be shown, or flushes take too long. Pure.

/** A flush that takes longer is slow. */
const FLUSH_MS_MAX = 50
/** One slow flush may mean that the machine was busy; this many in a row mean that the page cannot keep up. */
const SLOW_FLUSHES_MIN = 2
const SAMPLING_MS = 5000

export interface Flush {
  topic: string
  /** More frames arrived in the last second than the page can show. */
  isTooMuch: boolean
  tookMs: number
  now: number
}

export class Sampling {
  /** By topic: slow flushes in a row. */
  readonly #slow = new Map<string, number>()
  #until = Number.NEGATIVE_INFINITY
  #hasMissed = false

  /** Whether new frames are shown only by their status. A caller that shows rows this way calls `missed`. */
  isOn(now: number): boolean {
    return now < this.#until
  }

  /** Notes that rows were shown only by their status. */
  missed(): void {
    this.#hasMissed = true
  }

  /** Notes that a flush was shown. Sampling begins, or continues, while flushes are too much. */
  noteFlush({ topic, isTooMuch, tookMs, now }: Flush): void {
    const slow = tookMs > FLUSH_MS_MAX ? (this.#slow.get(topic) ?? 0) + 1 : 0
    this.#slow.set(topic, slow)
    if (isTooMuch || slow >= SLOW_FLUSHES_MIN) this.#until = now + SAMPLING_MS
  }

  /** Returns how long sampling continues; 0 once it is over. */
  leftMs(now: number): number {
    return Math.max(0, this.#until - now)
  }

  /** Ends sampling. Returns whether rows were shown only by their status, so that they must be read again. */
  end(): boolean {
    const hasMissed = this.#hasMissed
    this.#hasMissed = false
    return hasMissed
  }
}
