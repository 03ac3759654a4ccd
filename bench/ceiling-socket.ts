// The bare Connect transport, in the engine's place: a socket server that knows just enough frames to drive the bench's
// runner. Used by ceiling-process.ts.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

/** The runner's end of the wire: one call at a time under each id. */
export class CeilingSocket {
  #socket: WebSocket | undefined
  #corked = false
  #lastId = 0
  readonly #answered = new Map<string, (text: string) => void>()

  /** Takes the runner's socket on `/connect` of the server. */
  constructor(server: Server) {
    const options = { server, path: '/connect', perMessageDeflate: false }
    new WebSocketServer(options).on('connection', socket => {
      this.#socket = socket
      socket.on('message', data => this.#take(String(data)))
    })
  }

  /** Sends a frame and resolves with the one that answers it; checkpoints before it are acknowledged at once. */
  call(type: 'invoke' | 'echo', payload: string): Promise<string> {
    const id = String(++this.#lastId)
    return new Promise(resolve => {
      this.#answered.set(id, resolve)
      this.#write(`{"type":"${type}","id":"${id}","payload":${payload}}`)
    })
  }

  #take(text: string): void {
    const { type, id, payload } = JSON.parse(text) as { type: string; id: string; payload: { seq?: number } }
    if (type === 'runner.register') this.#write(`{"type":"runner.registered","id":"${id}","payload":{}}`)
    else if (type === 'invoke.checkpoint')
      this.#write(`{"type":"checkpoint.ack","id":"${id}","payload":{"seq":${payload.seq},"steps":[]}}`)
    else {
      this.#answered.get(id)?.(text)
      this.#answered.delete(id)
    }
  }

  #write(frame: string): void {
    const socket = (this.#socket as unknown as { _socket: Socket })._socket
    if (!this.#corked) {
      this.#corked = true
      socket.cork()
      setImmediate(() => {
        this.#corked = false
        socket.uncork()
      })
    }
    this.#socket?.send(frame)
  }
}
