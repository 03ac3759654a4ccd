// Engines of one process that hear each other, for tests: the real bus on a wire that can be cut, and that loses, repeats,
// delays and so reorders words by a seed.

import type { Clock } from '../../ports/clock.ts'
import { seededRandom } from '../clock/seeded-random.ts'
import type { Wire } from './wire.ts'
import { WireBus } from './wire-bus.ts'

export interface LoopFaults {
  /** Of all words, in [0, 1]. */
  lost: number
  repeated: number
  /** Words take up to so long, each its own time; 0: none, and in order. */
  delayMsMax: number
}

const NO_FAULTS: LoopFaults = { lost: 0, repeated: 0, delayMsMax: 0 }

interface Listener {
  onWord(word: string): void
  onBack(): void
}

export class Loop {
  faults: LoopFaults = NO_FAULTS
  /** Every word that was said, with the one it was said to. */
  readonly said: { word: string; to: string | undefined }[] = []
  /** A word for which it answers true is lost. */
  loses: (word: string, to: string | undefined) => boolean = () => false
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

  /** The bus of an engine of that name. */
  async open(self: string): Promise<WireBus> {
    const wire: Wire = {
      listen: async (name, onWord, onBack) => {
        this.#listeners.set(name, { onWord, onBack })
      },
      say: async (word, to) => {
        if (!this.#cut.has(self)) this.#say(word, to)
      },
      close: async () => {
        this.#listeners.delete(self)
      },
    }
    return WireBus.open({ wire, self })
  }

  /** The engine neither hears nor is heard, without knowing it: as one that died, or whose line is down. */
  cut(name: string): void {
    this.#cut.add(name)
  }

  /** The line is there again, and its engine told so. */
  mend(name: string): void {
    if (this.#cut.delete(name)) this.#listeners.get(name)?.onBack()
  }

  /** The engine stands still: what is said to it waits. */
  freeze(name: string): void {
    this.#frozen.set(name, [])
  }

  /** It goes on, with all that was said to it meanwhile. */
  thaw(name: string): void {
    const words = this.#frozen.get(name) ?? []
    this.#frozen.delete(name)
    for (const word of words) this.#listeners.get(name)?.onWord(word)
  }

  /** How many words of the topic were said. */
  count(topic: string): number {
    return this.said.filter(({ word }) => word.split(' ', 2)[1] === topic).length
  }

  #say(word: string, to: string | undefined): void {
    this.said.push({ word, to })
    const { lost, repeated } = this.faults
    for (const name of to === undefined ? this.#listeners.keys() : [to]) {
      if (this.loses(word, to) || this.#random() < lost) continue
      this.#carry(word, name)
      if (this.#random() < repeated) this.#carry(word, name)
    }
  }

  #carry(word: string, name: string): void {
    const deliver = () => {
      const frozen = this.#frozen.get(name)
      if (frozen) frozen.push(word)
      else if (!this.#cut.has(name)) this.#listeners.get(name)?.onWord(word)
    }
    const { delayMsMax } = this.faults
    if (delayMsMax === 0) setImmediate(deliver)
    else this.#clock.at(this.#clock.now() + Math.ceil(this.#random() * delayMsMax), deliver)
  }
}
