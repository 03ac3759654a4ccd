// Bounds the large messages of runners that are read and not stored yet (ports/message-memory). A message waits as the bytes that
// came, outside of the heap. Made by compose, used by both transports and by reports over HTTP.

import type { Clock } from '../../../ports/clock.ts'
import type { MessageMemory } from '../../../ports/message-memory.ts'

/**
 * While runs have outgrown their memory, each further message makes them larger. It waits until one has left, but not longer than this:
 * the passes that hold the memory may be long.
 */
const EXCEEDED_WAIT_MS = 100

interface Waiting {
  bytes: number
  onGranted(release: () => void): void
}

export interface MessageBudgetOptions {
  max: number
  clock: Pick<Clock, 'after' | 'elapsed'>
}

export class MessageBudget implements MessageMemory {
  readonly max: number
  readonly #clock: MessageBudgetOptions['clock']
  readonly #waiting: Waiting[] = []
  #used = 0
  #grantedAt = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  /** Whether runs have outgrown their memory. */
  isExceeded: () => boolean = () => false

  constructor({ max, clock }: MessageBudgetOptions) {
    this.max = max
    this.#clock = clock
  }

  get used(): number {
    return this.#used
  }

  get waiting(): number {
    return this.#waiting.length
  }

  reserve(bytes: number, onGranted: Waiting['onGranted']): void {
    this.#waiting.push({ bytes, onGranted })
    this.roomChanged()
  }

  hold(bytes: number): () => void {
    this.#used += bytes
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#used -= bytes
      this.roomChanged()
    }
  }

  /** There may be room: a message was stored, or a run has left. */
  roomChanged(): void {
    for (let next = this.#waiting[0]; next && this.#hasRoom(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#grant(next)
    }
    if (this.#waiting.length === 0 || this.#used > 0) return
    // Nothing that is stored would bring another look.
    this.#cancelTimer ??= this.#clock.after(EXCEEDED_WAIT_MS, () => {
      this.#cancelTimer = undefined
      this.roomChanged()
    })
  }

  #hasRoom(bytes: number): boolean {
    if (this.isExceeded()) return this.#used === 0 && this.#clock.elapsed() - this.#grantedAt >= EXCEEDED_WAIT_MS
    return this.#used === 0 || this.#used + bytes <= this.max
  }

  #grant({ bytes, onGranted }: Waiting): void {
    this.#grantedAt = this.#clock.elapsed()
    onGranted(this.hold(bytes))
  }
}
