// The messages of one socket on their way to its peer, in order. A large message waits, as the received bytes, until there is
// memory to read it; meanwhile the socket is not read. Opened by the hub.

import { type MessageMemory, SMALL_MESSAGE_BYTES_MAX } from '../../ports/message-memory.ts'

export interface InboxOptions {
  memory: MessageMemory
  socket: { pause(): void; resume(): void }
  receive(text: string): void
}

export class Inbox {
  readonly #options: InboxOptions
  /** Messages after one that waits: they had been received when the socket was paused. */
  readonly #queued: Buffer[] = []
  #isWaiting = false

  constructor(options: InboxOptions) {
    this.#options = options
  }

  take(bytes: Buffer): void {
    if (this.#isWaiting) this.#queued.push(bytes)
    else if (bytes.length <= SMALL_MESSAGE_BYTES_MAX) this.#options.receive(bytes.toString())
    else this.#takeLarge(bytes)
  }

  #takeLarge(bytes: Buffer): void {
    const { memory, socket, receive } = this.#options
    this.#isWaiting = true
    let isLater = false
    memory.request(bytes.length, release => {
      this.#isWaiting = false
      // The call that gets the message reserves memory for the part it keeps.
      receive(bytes.toString())
      release()
      if (isLater) this.#goOn()
    })
    isLater = true
    if (this.#isWaiting) socket.pause()
  }

  #goOn(): void {
    while (!this.#isWaiting) {
      const next = this.#queued.shift()
      if (!next) break
      this.take(next)
    }
    if (!this.#isWaiting) this.#options.socket.resume()
  }
}
