// The bus of engines that share a wire: adds the sender and the topic to each message, and bounds the messages that wait to be
// sent. Opened by backends.

import type { Bus } from '../../ports/bus.ts'
import type { Wire } from './wire.ts'

/** Most characters that wait to be sent; a message beyond that is dropped. */
const PENDING_LENGTH_MAX = 64 * 1024 * 1024
const CLOSE_GRACE_MS = 1000

export class WireBus implements Bus {
  readonly self: string
  readonly ping?: () => Promise<void>
  readonly #wire: Wire
  readonly #handlers = new Map<string, (text: string, from: string) => void>()
  readonly #onReconnect: (() => void)[] = []
  #pendingLength = 0

  private constructor(wire: Wire, self: string) {
    this.#wire = wire
    this.self = self
    if (wire.ping) this.ping = () => wire.ping?.() ?? Promise.resolve()
  }

  /** Resolves when the bus receives messages from the others. `self` names this engine. */
  static async open({ wire, self }: { wire: Wire; self: string }): Promise<WireBus> {
    const bus = new WireBus(wire, self)
    await wire.listen(
      self,
      message => bus.#receive(message),
      () => {
        for (const fn of bus.#onReconnect) fn()
      },
    )
    return bus
  }

  on(topic: string, handle: (text: string, from: string) => void): void {
    this.#handlers.set(topic, handle)
  }

  onReconnect(fn: () => void): void {
    this.#onReconnect.push(fn)
  }

  publish(topic: string, text: string, to?: string): void {
    const message = `${this.self} ${topic} ${text}`
    if (this.#pendingLength + message.length > PENDING_LENGTH_MAX) return
    this.#pendingLength += message.length
    void this.#wire.send(message, to).finally(() => {
      this.#pendingLength -= message.length
    })
  }

  /** Waits a moment for pending messages to be sent: a `bye` may be among them. */
  async close(): Promise<void> {
    const until = performance.now() + CLOSE_GRACE_MS
    while (this.#pendingLength > 0 && performance.now() < until) await new Promise(setImmediate)
    await this.#wire.close()
  }

  #receive(message: string): void {
    const nameEnd = message.indexOf(' ')
    const topicEnd = message.indexOf(' ', nameEnd + 1)
    if (nameEnd < 0 || topicEnd < 0) return
    const from = message.slice(0, nameEnd)
    if (from !== this.self)
      this.#handlers.get(message.slice(nameEnd + 1, topicEnd))?.(message.slice(topicEnd + 1), from)
  }
}
