// Bounds the large messages from runners that were read but are not stored yet (ports/message-memory). A waiting message is
// kept as raw bytes, outside the heap. Made by compose, used by both transports and by reports over HTTP.

import type { Clock } from '../../../ports/clock.ts'
import type { MessageMemory } from '../../../ports/message-memory.ts'
import { Permits } from '../../support/permits.ts'

/**
 * While runs have outgrown their memory, each further message makes them larger. A message then waits until a run has left, but
 * not longer than this: the passes that have the memory may be long.
 */
const EXCEEDED_WAIT_MS = 100

interface Waiting {
  bytes: number
  onGranted(release: () => void): void
}

export interface MessagePermitsOptions {
  max: number
  clock: Pick<Clock, 'after' | 'elapsed'>
}

export class MessagePermits implements MessageMemory {
  /** One permit for each byte. */
  readonly #permits: Permits
  readonly #clock: MessagePermitsOptions['clock']
  readonly #waiting: Waiting[] = []
  #grantedAt = Number.NEGATIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  /** Whether runs have outgrown their memory. */
  isExceeded: () => boolean = () => false

  constructor({ max, clock }: MessagePermitsOptions) {
    this.#permits = new Permits(max)
    this.#clock = clock
  }

  get max(): number {
    return this.#permits.max
  }

  get used(): number {
    return this.#permits.inUse
  }

  get waiting(): number {
    return this.#waiting.length
  }

  request(bytes: number, onGranted: Waiting['onGranted']): void {
    this.#waiting.push({ bytes, onGranted })
    this.roomChanged()
  }

  take(bytes: number): () => void {
    this.#permits.take(bytes)
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      this.#permits.giveBack(bytes)
      this.roomChanged()
    }
  }

  /** Grants messages if there is room now: a message was stored, or a run has left. */
  roomChanged(): void {
    for (let next = this.#waiting[0]; next && this.#hasRoom(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#grant(next)
    }
    if (this.#waiting.length === 0 || this.used > 0) return
    // No message is being stored that would trigger another check.
    this.#cancelTimer ??= this.#clock.after(EXCEEDED_WAIT_MS, () => {
      this.#cancelTimer = undefined
      this.roomChanged()
    })
  }

  #hasRoom(bytes: number): boolean {
    if (this.isExceeded()) return this.used === 0 && this.#clock.elapsed() - this.#grantedAt >= EXCEEDED_WAIT_MS
    return this.used === 0 || bytes <= this.#permits.room
  }

  #grant({ bytes, onGranted }: Waiting): void {
    this.#grantedAt = this.#clock.elapsed()
    onGranted(this.take(bytes))
  }
}
