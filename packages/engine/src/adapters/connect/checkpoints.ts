// The checkpoints of one invoke that wait to be stored: one at a time, in the order they came. Owned by call.ts.

export interface CheckpointEvents {
  /** The checkpoint is durable; `ack` is the payload of its acknowledgement. */
  onStored(ack: string): void
  /** The invoke is obsolete: nothing of it is stored any more. */
  onObsolete(): void
  onFailed(): void
  /** No checkpoint waits any more. */
  onIdle(): void
}

/** Bounds of what one invoke may have waiting: a runner usually sends the next checkpoint after the ack of the last. */
const WAITING_MAX = 1000
const WAITING_LENGTH_MAX = 16 * 1024 * 1024

export class CheckpointQueue {
  readonly #store: (checkpoint: string) => Promise<string | undefined>
  readonly #events: CheckpointEvents
  #waiting: string[] = []
  #waitingLength = 0
  #isStopped = false
  isBusy = false

  constructor(store: (checkpoint: string) => Promise<string | undefined>, events: CheckpointEvents) {
    this.#store = store
    this.#events = events
  }

  /** False when too much waits already. */
  add(checkpoint: string): boolean {
    if (this.#waiting.length >= WAITING_MAX || this.#waitingLength + checkpoint.length > WAITING_LENGTH_MAX)
      return false
    this.#waiting.push(checkpoint)
    this.#waitingLength += checkpoint.length
    if (!this.isBusy) void this.#storeAll()
    return true
  }

  /** Drops the waiting checkpoints; no event follows. */
  stop(): void {
    this.#isStopped = true
    this.#waiting = []
  }

  async #storeAll(): Promise<void> {
    this.isBusy = true
    for (let next = this.#shift(); next !== undefined; next = this.#shift()) {
      const ack = await this.#store(next).catch((): typeof FAILED => FAILED)
      if (this.#isStopped) return
      if (ack === FAILED) return this.#events.onFailed()
      if (ack === undefined) return this.#events.onObsolete()
      this.#events.onStored(ack)
    }
    this.isBusy = false
    if (!this.#isStopped) this.#events.onIdle()
  }

  #shift(): string | undefined {
    const next = this.#waiting.shift()
    this.#waitingLength -= next?.length ?? 0
    return next
  }
}

const FAILED: unique symbol = Symbol('failed')
