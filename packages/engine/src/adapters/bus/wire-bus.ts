// The bus of engines that hear each other over a wire: who speaks, of what, and how much may be on its way.

import type { Bus } from '../../ports/bus.ts'
import type { Wire } from './wire.ts'

/** Characters on their way to the wire; what is said beyond that is lost, as anything may be. */
const PENDING_LENGTH_MAX = 64 * 1024 * 1024
const CLOSE_GRACE_MS = 1000

export class WireBus implements Bus {
  readonly self: string
  readonly ping?: () => Promise<void>
  readonly #wire: Wire
  readonly #hearers = new Map<string, (text: string, from: string) => void>()
  readonly #onBack: (() => void)[] = []
  #pendingLength = 0

  private constructor(wire: Wire, self: string) {
    this.#wire = wire
    this.self = self
    if (wire.ping) this.ping = () => wire.ping?.() ?? Promise.resolve()
  }

  /** Resolves when it hears the others. `self` names this engine. */
  static async open({ wire, self }: { wire: Wire; self: string }): Promise<WireBus> {
    const bus = new WireBus(wire, self)
    await wire.listen(
      self,
      word => bus.#hear(word),
      () => {
        for (const fn of bus.#onBack) fn()
      },
    )
    return bus
  }

  on(topic: string, hear: (text: string, from: string) => void): void {
    this.#hearers.set(topic, hear)
  }

  onReconnect(fn: () => void): void {
    this.#onBack.push(fn)
  }

  publish(topic: string, text: string, to?: string): void {
    const word = `${this.self} ${topic} ${text}`
    if (this.#pendingLength + word.length > PENDING_LENGTH_MAX) return
    this.#pendingLength += word.length
    void this.#wire.say(word, to).finally(() => {
      this.#pendingLength -= word.length
    })
  }

  /** What was said last, a goodbye among it, has a moment to get out. */
  async close(): Promise<void> {
    const until = performance.now() + CLOSE_GRACE_MS
    while (this.#pendingLength > 0 && performance.now() < until) await new Promise(setImmediate)
    await this.#wire.close()
  }

  #hear(word: string): void {
    const nameEnd = word.indexOf(' ')
    const topicEnd = word.indexOf(' ', nameEnd + 1)
    if (nameEnd < 0 || topicEnd < 0) return
    const from = word.slice(0, nameEnd)
    if (from !== this.self)
      this.#hearers.get(word.slice(nameEnd + 1, topicEnd))?.(word.slice(topicEnd + 1), from)
  }
}
