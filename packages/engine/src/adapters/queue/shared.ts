// The bell of several engines on one store: each rings its own lanes at once and tells the others. Nothing is kept on the
// way, so there is nothing to lose: a ring that does not arrive is made up for by the next look into the store.

import type { Bus } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Lane } from '../../ports/store.ts'
import { MemoryQueue } from './memory.ts'

const LANES: readonly Lane[] = ['runs', 'deliveries', 'timers']
/** Rings are told together, this long after the first. */
const GATHER_MS = 2

const TOPIC = 'ring'

export interface SharedQueueOptions {
  bus: Bus
  clock: Clock
}

export class SharedQueue implements Queue {
  readonly #bells: MemoryQueue
  readonly #bus: Bus
  readonly #gathered = new Map<Lane, number>()
  readonly ping?: () => Promise<void>

  constructor({ bus, clock }: SharedQueueOptions) {
    this.#bells = new MemoryQueue(clock)
    this.#bus = bus
    if (bus.ping) this.ping = () => bus.ping?.() ?? Promise.resolve()
    bus.on(TOPIC, rings => this.#told(rings))
    bus.onReconnect(() => {
      for (const lane of LANES) this.#bells.wake(lane, clock.now())
    })
  }

  wake(lane: Lane, at: number): void {
    this.#bells.wake(lane, at)
    if (this.#gathered.size === 0) setTimeout(() => this.#tell(), GATHER_MS).unref()
    this.#gathered.set(lane, Math.min(at, this.#gathered.get(lane) ?? at))
  }

  wait(lane: Lane, until: number, signal: AbortSignal): Promise<void> {
    return this.#bells.wait(lane, until, signal)
  }

  #tell(): void {
    const rings = [...this.#gathered].map(([lane, at]) => `${lane}@${at}`)
    this.#gathered.clear()
    this.#bus.publish(TOPIC, rings.join(' '))
  }

  #told(rings: string): void {
    for (const ring of rings.split(' ')) {
      const [name, at] = ring.split('@')
      const lane = LANES.find(lane => lane === name)
      if (lane && Number.isFinite(Number(at))) this.#bells.wake(lane, Number(at))
    }
  }
}
