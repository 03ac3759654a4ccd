// A minimal Connect server in the engine's place: it knows just enough frames to drive the bench's runner.
// ceiling-process.ts uses it.

import type { Server } from 'node:http'
import { WebSocketServer } from 'ws'
import { Corked } from '../rig/corked.ts'

/** The server's side of the runner's socket. One call at a time may use an id. */
export class CeilingSocket {
  #frames: Corked | undefined
  #lastId = 0
  readonly #answered = new Map<string, (text: string) => void>()

  /** Accepts the runner's socket on `/connect` of the server. */
  constructor(server: Server) {
    const options = { server, path: '/connect', perMessageDeflate: false }
    new WebSocketServer(options).on('connection', socket => {
      this.#frames = new Corked(socket)
      socket.on('message', data => this.#take(String(data)))
    })
  }

  /** Sends a frame and resolves with its answer. Checkpoints before the answer are acknowledged at once. */
  call(type: 'invoke' | 'echo', payload: string): Promise<string> {
    const id = String(++this.#lastId)
    return new Promise(resolve => {
      this.#answered.set(id, resolve)
      this.#frames?.write(`{"type":"${type}","id":"${id}","payload":${payload}}`)
    })
  }

  #take(text: string): void {
    const { type, id, payload } = JSON.parse(text) as { type: string; id: string; payload: { seq?: number } }
    if (type === 'runner.register') this.#frames?.write(`{"type":"runner.registered","id":"${id}","payload":{}}`)
    else if (type === 'invoke.checkpoint')
      this.#frames?.write(`{"type":"checkpoint.ack","id":"${id}","payload":{"seq":${payload.seq},"steps":[]}}`)
    else {
      this.#answered.get(id)?.(text)
      this.#answered.delete(id)
    }
  }
}
