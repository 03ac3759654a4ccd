// Decides when rows show their status alone: more frames come than can be shown, or flushes take too long. Pure.

/** A flush that takes longer is slow. */
const FLUSH_MS_MAX = 50
/** One slow flush says that the machine was busy; this many in a row say that the page cannot keep up. */
const SLOW_FLUSHES_MIN = 2
const SAMPLING_MS = 5000

export interface Flush {
  topic: string
  /** More frames came in the last second than the page can show. */
  isTooMuch: boolean
  tookMs: number
  now: number
}

export class Sampling {
  /** By topic: slow flushes in a row. */
  readonly #slow = new Map<string, number>()
  #until = Number.NEGATIVE_INFINITY
  #hasMissed = false

  /** Whether what comes now is shown by its status alone. A caller that shows rows so calls `missed`. */
  isOn(now: number): boolean {
    return now < this.#until
  }

  /** Rows were shown by their status alone. */
  missed(): void {
    this.#hasMissed = true
  }

  /** A flush was shown. Sampling begins, or goes on, while flushes are too much. */
  noteFlush({ topic, isTooMuch, tookMs, now }: Flush): void {
    const slow = tookMs > FLUSH_MS_MAX ? (this.#slow.get(topic) ?? 0) + 1 : 0
    this.#slow.set(topic, slow)
    if (isTooMuch || slow >= SLOW_FLUSHES_MIN) this.#until = now + SAMPLING_MS
  }

  /** How long sampling goes on; 0 once it is over. */
  leftMs(now: number): number {
    return Math.max(0, this.#until - now)
  }

  /** Sampling is over. Whether rows were shown by their status alone, so that they must be read again. */
  end(): boolean {
    const hasMissed = this.#hasMissed
    this.#hasMissed = false
    return hasMissed
  }
}
