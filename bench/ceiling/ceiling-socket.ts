// The bare Connect transport, in the engine's place: a socket server that knows just enough frames to drive the bench's
// runner. Used by ceiling-process.ts.

import type { Server } from 'node:http'
import { WebSocketServer } from 'ws'
import { Corked } from '../rig/corked.ts'

/** The runner's end of the wire: one call at a time under each id. */
export class CeilingSocket {
  #frames: Corked | undefined
  #lastId = 0
  readonly #answered = new Map<string, (text: string) => void>()

  /** Takes the runner's socket on `/connect` of the server. */
  constructor(server: Server) {
    const options = { server, path: '/connect', perMessageDeflate: false }
    new WebSocketServer(options).on('connection', socket => {
      this.#frames = new Corked(socket)
      socket.on('message', data => this.#take(String(data)))
    })
  }

  /** Sends a frame and resolves with the one that answers it; checkpoints before it are acknowledged at once. */
  call(type: 'invoke' | 'echo', payload: string): Promise<string> {
    const id = String(++this.#lastId)
    return new Promise(resolve => {
      this.#answered.set(id, resolve)
      this.#frames?.write(`{"type":"${type}","id":"${id}","payload":${payload}}`)
    })
  }

  #take(text: string): void {
    const { type, id, payload } = JSON.parse(text) as { type: string; id: string; payload: { seq?: number } }
    if (type === 'runner.register')
      this.#frames?.write(`{"type":"runner.registered","id":"${id}","payload":{}}`)
    else if (type === 'invoke.checkpoint')
      this.#frames?.write(
        `{"type":"checkpoint.ack","id":"${id}","payload":{"seq":${payload.seq},"steps":[]}}`,
      )
    else {
      this.#answered.get(id)?.(text)
      this.#answered.delete(id)
    }
  }
}
