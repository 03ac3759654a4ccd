// A network between engines of one process, for tests: the real bus on a wire that can be cut, and that drops, repeats, delays
// and thereby reorders messages by a seed.

import type { Clock } from '../../ports/clock.ts'
import { seededRandom } from '../clock/seeded-random.ts'
import type { Wire } from './wire.ts'
import { WireBus } from './wire-bus.ts'

export interface NetworkFaults {
  /** Share of the messages that are lost, in [0, 1]. */
  lost: number
  /** Share of the messages that arrive twice, in [0, 1]. */
  repeated: number
  /** Each message takes a random time up to this; 0 delivers at once and in order. */
  delayMsMax: number
}

const NO_FAULTS: NetworkFaults = { lost: 0, repeated: 0, delayMsMax: 0 }

interface Listener {
  onMessage(message: string): void
  onReconnect(): void
}

export class LoopbackNetwork {
  faults: NetworkFaults = NO_FAULTS
  /** Every message that was sent, and its receiver; undefined: all. */
  readonly sent: { message: string; to: string | undefined }[] = []
  /** A message for which it returns true is lost. */
  drops: (message: string, to: string | undefined) => boolean = () => false
  readonly #clock: Clock
  readonly #random: () => number
  readonly #listeners = new Map<string, Listener>()
  readonly #cut = new Set<string>()
  readonly #frozen = new Map<string, string[]>()

  constructor(clock: Clock, seed = 1) {
    const random = seededRandom(seed)
    this.#clock = clock
    this.#random = () => random.next()
  }

  /** Opens the bus of an engine with that name. */
  async open(self: string): Promise<WireBus> {
    const wire: Wire = {
      listen: async (name, onMessage, onReconnect) => {
        this.#listeners.set(name, { onMessage, onReconnect })
      },
      send: async (message, to) => {
        if (!this.#cut.has(self)) this.#send(message, to)
      },
      close: async () => {
        this.#listeners.delete(self)
      },
    }
    return WireBus.open({ wire, self })
  }

  /** Drops all messages from and to the engine, which does not notice: it crashed, or its connection is down. */
  cut(name: string): void {
    this.#cut.add(name)
  }

  /** Restores the connection of an engine that was cut, and notifies the engine. */
  reconnect(name: string): void {
    if (this.#cut.delete(name)) this.#listeners.get(name)?.onReconnect()
  }

  /** Stops the engine's process: messages to it wait. */
  freeze(name: string): void {
    this.#frozen.set(name, [])
  }

  /** Lets the engine continue; it receives all messages that waited for it. */
  unfreeze(name: string): void {
    const messages = this.#frozen.get(name) ?? []
    this.#frozen.delete(name)
    for (const message of messages) this.#listeners.get(name)?.onMessage(message)
  }

  /** Counts the sent messages of the topic. */
  count(topic: string): number {
    return this.sent.filter(({ message }) => message.split(' ', 2)[1] === topic).length
  }

  #send(message: string, to: string | undefined): void {
    this.sent.push({ message, to })
    const { lost, repeated } = this.faults
    for (const name of to === undefined ? this.#listeners.keys() : [to]) {
      if (this.drops(message, to) || this.#random() < lost) continue
      this.#deliver(message, name)
      if (this.#random() < repeated) this.#deliver(message, name)
    }
  }

  #deliver(message: string, name: string): void {
    const deliver = () => {
      const frozen = this.#frozen.get(name)
      if (frozen) frozen.push(message)
      else if (!this.#cut.has(name)) this.#listeners.get(name)?.onMessage(message)
    }
    const { delayMsMax } = this.faults
    if (delayMsMax === 0) setImmediate(deliver)
    else this.#clock.after(Math.ceil(this.#random() * delayMsMax), deliver)
  }
}
