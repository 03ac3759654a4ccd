// Decides when a pass reports new progress while it continues: soon, and at most five times a second. Used by the pass.

/** Shortest time between two reports of progress. The engine stores at most five values a second for a run. */
const EVERY_MS = 200

export class ProgressTimer {
  readonly #report: () => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #sentAt = Number.NEGATIVE_INFINITY
  /** The time for a report has come. The report waits while another one is under way. */
  isDue = false

  constructor(report: () => void) {
    this.#report = report
  }

  /** There is new progress. A callback may report many values in one turn of the event loop: the newest is sent. */
  start(): void {
    if (this.#timer !== undefined || this.isDue) return
    const waitMs = Math.max(0, this.#sentAt + EVERY_MS - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.isDue = true
      this.#report()
    }, waitMs)
  }

  /** A report has the newest progress. */
  sent(): void {
    this.stop()
    this.#sentAt = performance.now()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.isDue = false
  }
}
