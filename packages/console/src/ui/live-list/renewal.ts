// Decides when data that no frame of the stream carries is read again. One read is under way at a time, and each noticed change
// is followed by a read that began after it.

export interface RenewalSource {
  read(): Promise<unknown>
  /** Whether nothing may be read now: the tab is hidden, or rendering is paused. */
  mayNotRead(): boolean
}

interface Read {
  beganAt: number
  done: Promise<unknown>
}

export class Renewal {
  readonly #source: RenewalSource
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When the next read is due. */
  #dueAt = Number.POSITIVE_INFINITY
  /** When the newest change that a read must show was noticed. */
  #changedAt = Number.NEGATIVE_INFINITY
  /** When the newest successful read began. */
  #readAt = Number.NEGATIVE_INFINITY
  #afterMs = 0
  #current: Read | undefined
  #next: Promise<unknown> | undefined
  #isMissed = false
  #isStopped = false

  constructor(source: RenewalSource) {
    this.#source = source
  }

  /** Called when something has changed: reads after this time, or earlier if that is planned. */
  wake(afterMs: number): void {
    this.#changedAt = performance.now()
    this.#afterMs = afterMs
    this.#plan(afterMs)
  }

  /** Called when reading is possible again: makes up for the read that was due in the meantime. */
  goOn(): void {
    if (this.#isMissed && !this.#isStopped) this.#due()
  }

  /**
   * Changes before this time, by `performance.now()`, may be missing. Resolves when a read that began later has ended; rejects if
   * it fails.
   */
  async catchUp(openedAt: number): Promise<void> {
    if (this.#readAt >= openedAt) return
    if (this.#current === undefined) await this.#begin()
    else if (this.#current.beganAt >= openedAt) await this.#current.done
    else {
      this.#next ??= this.#current.done
        .catch(() => {})
        .then(() => {
          this.#next = undefined
          return this.#isStopped ? undefined : this.#begin()
        })
      await this.#next
    }
  }

  /** Stops reading. */
  stop(): void {
    this.#clear()
    this.#isStopped = true
  }

  #plan(waitMs: number): void {
    const at = performance.now() + waitMs
    if (this.#isStopped || at >= this.#dueAt) return
    this.#clear()
    this.#dueAt = at
    this.#timer = setTimeout(() => this.#due(), waitMs)
  }

  #clear(): void {
    clearTimeout(this.#timer)
    this.#dueAt = Number.POSITIVE_INFINITY
  }

  #due(): void {
    this.#clear()
    this.#isMissed = false
    if (this.#readAt >= this.#changedAt) return
    if (this.#source.mayNotRead()) this.#isMissed = true
    // A second read of the same data would end the current one as cancelled.
    else if (this.#current) void this.#current.done.catch(() => {}).then(() => this.#plan(this.#afterMs))
    else void this.#begin().catch(() => {})
  }

  #begin(): Promise<unknown> {
    this.#clear()
    this.#isMissed = false
    const beganAt = performance.now()
    const done = this.#source.read().then(
      () => {
        this.#current = undefined
        this.#readAt = beganAt
      },
      error => {
        this.#current = undefined
        throw error
      },
    )
    this.#current = { beganAt, done }
    return done
  }
}
