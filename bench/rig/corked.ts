// Writes frames to a WebSocket so that all frames of one tick leave in one write, as engine and SDK do.

import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'

export class Corked {
  readonly #socket: WebSocket
  #isCorked = false

  constructor(socket: WebSocket) {
    this.#socket = socket
  }

  write(frame: string): void {
    if (!this.#isCorked) {
      this.#isCorked = true
      const { _socket: stream } = this.#socket as unknown as { _socket: Socket }
      stream.cork()
      setImmediate(() => {
        this.#isCorked = false
        stream.uncork()
      })
    }
    this.#socket.send(frame)
  }
}
