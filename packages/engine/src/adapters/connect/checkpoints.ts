// The checkpoints of one invoke on their way to be made durable: one at a time, in the order they came.

export interface CheckpointEvents {
  /** It is durable; the payload of its acknowledgement. */
  onStored(answer: string): void
  /** The invoke is of no use any more. */
  onRefused(): void
  onFailed(): void
  /** None is left. */
  onIdle(): void
}

/** What a runner may have waiting: it usually sends the next only after it has thought about the last. */
const WAITING_MAX = 1000
const WAITING_LENGTH_MAX = 16 * 1024 * 1024

export class CheckpointQueue {
  readonly #store: (checkpoint: string) => Promise<string | undefined>
  readonly #events: CheckpointEvents
  #waiting: string[] = []
  #length = 0
  #stopped = false
  isBusy = false

  constructor(store: (checkpoint: string) => Promise<string | undefined>, events: CheckpointEvents) {
    this.#store = store
    this.#events = events
  }

  /** False when too much waits already. */
  add(checkpoint: string): boolean {
    if (this.#waiting.length >= WAITING_MAX || this.#length + checkpoint.length > WAITING_LENGTH_MAX)
      return false
    this.#waiting.push(checkpoint)
    this.#length += checkpoint.length
    if (!this.isBusy) void this.#work()
    return true
  }

  /** Nothing more is stored, and nothing more is told. */
  stop(): void {
    this.#stopped = true
    this.#waiting = []
  }

  async #work(): Promise<void> {
    this.isBusy = true
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      const answer = await this.#store(next).catch(() => FAILED)
      if (this.#stopped) return
      if (answer === FAILED) return this.#events.onFailed()
      if (answer === undefined) return this.#events.onRefused()
      this.#events.onStored(answer as string)
    }
    this.isBusy = false
    if (!this.#stopped) this.#events.onIdle()
  }

  #take(): string | undefined {
    const next = this.#waiting.shift()
    this.#length -= next?.length ?? 0
    return next
  }
}

const FAILED = Symbol('failed')
