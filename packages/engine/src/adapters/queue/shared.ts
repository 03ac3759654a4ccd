// The queue of several engines on one store: each wakes its own lanes at once and publishes the wake-up to the others. A lost
// message costs only time, until the lane next looks into the store.

import type { Bus } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Lane } from '../../ports/store.ts'
import { MemoryQueue } from './memory.ts'

const EVERY_LANE: Readonly<Record<Lane, true>> = { runs: true, deliveries: true, timers: true }
export const LANES = Object.keys(EVERY_LANE) as Lane[]
/** Wake-ups are published together, this long after the first. */
const PUBLISH_DELAY_MS = 2

/** Engines of different versions share the bus, so the topic must not change. */
const WAKE_TOPIC = 'ring'

export class SharedQueue implements Queue {
  readonly #local: MemoryQueue
  readonly #bus: Bus
  /** The earliest unpublished time of each lane. */
  readonly #unpublished = new Map<Lane, number>()
  readonly ping?: () => Promise<void>

  constructor({ bus, clock }: { bus: Bus; clock: Clock }) {
    this.#local = new MemoryQueue(clock)
    this.#bus = bus
    if (bus.ping) this.ping = () => bus.ping?.() ?? Promise.resolve()
    bus.on(WAKE_TOPIC, text => this.#receive(text))
    bus.onReconnect(() => {
      for (const lane of LANES) this.#local.wake(lane, clock.now())
    })
  }

  wake(lane: Lane, at: number): void {
    this.#local.wake(lane, at)
    if (this.#unpublished.size === 0) setTimeout(() => this.#publish(), PUBLISH_DELAY_MS).unref()
    this.#unpublished.set(lane, Math.min(at, this.#unpublished.get(lane) ?? at))
  }

  wait(lane: Lane, until: number, signal: AbortSignal): Promise<void> {
    return this.#local.wait(lane, until, signal)
  }

  #publish(): void {
    const wakes = [...this.#unpublished].map(([lane, at]) => `${lane}@${at}`)
    this.#unpublished.clear()
    this.#bus.publish(WAKE_TOPIC, wakes.join(' '))
  }

  #receive(text: string): void {
    for (const wake of text.split(' ')) {
      const [name, at] = wake.split('@')
      const lane = LANES.find(lane => lane === name)
      if (lane && Number.isFinite(Number(at))) this.#local.wake(lane, Number(at))
    }
  }
}
