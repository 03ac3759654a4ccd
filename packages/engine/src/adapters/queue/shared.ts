// The bell of several engines on one store: each rings its own lanes at once and tells the others. Nothing is kept on the
// way, so there is nothing to lose: a ring that does not arrive is made up for by the next look into the store.

import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Lane } from '../../ports/store.ts'
import { MemoryQueue } from './memory.ts'

/** How engines hear each other: whatever is said reaches whoever listens, the speaker too, or nobody. */
export interface Wire {
  /** Calls `onWord` with all that is said from now on, `onBack` whenever words may have been missed. */
  listen(onWord: (word: string) => void, onBack: () => void): Promise<void>
  /** Never rejects: what cannot be said is lost. */
  say(word: string): Promise<void>
  /** Present where the wire is a service of its own, whose loss people want to know of. */
  ping?(): Promise<void>
  close(): Promise<void>
}

const LANES: readonly Lane[] = ['runs', 'deliveries', 'timers']
/** Rings are told together, this long after the first. */
const GATHER_MS = 2

export class SharedQueue implements Queue {
  readonly #bells: MemoryQueue
  readonly #wire: Wire
  readonly #clock: Clock
  readonly #self: string
  readonly #gathered = new Map<Lane, number>()
  readonly ping?: () => Promise<void>

  private constructor(options: SharedQueueOptions) {
    const { wire, clock, self } = options
    this.#bells = new MemoryQueue(clock)
    this.#wire = wire
    this.#clock = clock
    this.#self = self
    if (wire.ping) this.ping = () => wire.ping?.() ?? Promise.resolve()
  }

  /** Resolves when it hears the others. `self` names this engine, which has rung its own bells already. */
  static async open(options: SharedQueueOptions): Promise<SharedQueue> {
    const queue = new SharedQueue(options)
    await options.wire.listen(
      word => queue.#told(word),
      () => queue.#ringAll(),
    )
    return queue
  }

  wake(lane: Lane, at: number): void {
    this.#bells.wake(lane, at)
    if (this.#gathered.size === 0) setTimeout(() => this.#tell(), GATHER_MS).unref()
    this.#gathered.set(lane, Math.min(at, this.#gathered.get(lane) ?? at))
  }

  wait(lane: Lane, until: number, signal: AbortSignal): Promise<void> {
    return this.#bells.wait(lane, until, signal)
  }

  close(): Promise<void> {
    return this.#wire.close()
  }

  #tell(): void {
    const rings = [...this.#gathered].map(([lane, at]) => `${lane}@${at}`)
    this.#gathered.clear()
    void this.#wire.say(`${this.#self} ${rings.join(' ')}`)
  }

  #told(word: string): void {
    const [from, ...rings] = word.split(' ')
    if (from === this.#self) return
    for (const ring of rings) {
      const [name, at] = ring.split('@')
      const lane = LANES.find(lane => lane === name)
      if (lane && Number.isFinite(Number(at))) this.#bells.wake(lane, Number(at))
    }
  }

  #ringAll(): void {
    for (const lane of LANES) this.#bells.wake(lane, this.#clock.now())
  }
}

export interface SharedQueueOptions {
  wire: Wire
  clock: Clock
  self: string
}
