// A scripted engine: a real WebSocket server that records frames and answers them, unless a test answers them.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CONNECT_SUBPROTOCOL, SIGNATURE_HEADER, signBody } from '@perdure/protocol'
import { type WebSocket, WebSocketServer } from 'ws'

interface SeenFrame {
  type: string
  id: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read payloads of every shape
  payload: any
}

export interface ScriptedEngineOptions {
  /** Key that signs the answer to the handshake. */
  signingKey?: string
  /** Signs the answer to the handshake in another way, or not at all. */
  proof?: (nonce: string, host: string) => string | undefined
  /** Features that `hello` lists. Default: none, like an earlier engine. */
  features?: string[]
  /** Refuses every socket with this error. */
  refusal?: { code: string; message: string }
  heartbeatMs?: number
  checkpoints?: boolean
  /** Answers a frame instead of the scripted engine. Returns whether it did. */
  onFrame?: (connection: Connection, frame: SeenFrame) => boolean | undefined
  port?: number
}

const REPLY = { ok: true, protocolVersion: 1, runnerId: 'r1', workflows: 1, heartbeatMs: 1, staleAfterMs: 1 }

/** One socket of the runner. */
export class Connection {
  readonly frames: SeenFrame[] = []
  readonly headers: IncomingMessage['headers']
  readonly socket: WebSocket
  pings = 0
  closed: { code: number; reason: string } | undefined

  constructor(socket: WebSocket, headers: IncomingMessage['headers']) {
    this.socket = socket
    this.headers = headers
  }

  of(type: string): SeenFrame[] {
    return this.frames.filter(frame => frame.type === type)
  }

  send(type: string, id: string, payload?: unknown): void {
    this.socket.send(JSON.stringify({ type, id, payload }))
  }

  invoke(id: string, workflow: string, steps: object = {}, more: object = {}): void {
    const ctx = { runId: `run-${id}`, workflow, attempt: 1, onFailure: false, ...more }
    this.send('invoke', id, { ctx, event: { name: 'e', data: { id } }, steps, deadlineMs: 60_000 })
  }
}

export class ScriptedEngine {
  readonly connections: Connection[] = []
  /** Key, instances and step of each heartbeat that comes outside the socket. */
  readonly beats: string[] = []
  readonly options: ScriptedEngineOptions
  #server: Server | undefined
  port = 0

  constructor(options: ScriptedEngineOptions = {}) {
    this.options = options
    this.port = options.port ?? 0
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** The newest connection. */
  get last(): Connection {
    return this.connections.at(-1) as Connection
  }

  /** Starts to listen; after a restart, on the same port as before. */
  async open(): Promise<this> {
    const server = createServer(({ headers }, response) => {
      const beats = headers['x-engine-beats']
      if (beats !== undefined) this.beats.push(`${headers.authorization} ${beats} ${headers['x-engine-beats-step']}`)
      response.writeHead(beats === undefined ? 404 : 204).end()
    })
    const sockets = new WebSocketServer({
      server,
      path: '/connect',
      handleProtocols: () => CONNECT_SUBPROTOCOL,
    })
    sockets.on('headers', (headers, request) => {
      const { signingKey, proof } = this.options
      const body = request.headers['sec-websocket-key'] as string
      const keys = signingKey === undefined ? [] : [signingKey]
      const host = String(request.headers['x-engine-host'])
      const header = proof ? proof(body, host) : signBody({ keys, body, nowMs: Date.now() })
      if (header !== undefined) headers.push(`${SIGNATURE_HEADER}: ${header}`)
    })
    sockets.on('connection', (socket, request) => this.#connected(socket, request))
    server.listen(this.port, '127.0.0.1')
    await once(server, 'listening')
    this.port = (server.address() as AddressInfo).port
    this.#server = server
    return this
  }

  /** Terminates every connection without a closing handshake. */
  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (!server) return
    for (const { socket } of this.connections) socket.terminate()
    await new Promise(resolve => {
      server.close(resolve)
      server.closeAllConnections()
    })
  }

  #connected(socket: WebSocket, request: IncomingMessage): void {
    const connection = new Connection(socket, request.headers)
    this.connections.push(connection)
    socket.on('ping', () => connection.pings++)
    socket.on('error', () => undefined)
    socket.on('close', (code, reason) => {
      connection.closed = { code, reason: String(reason) }
    })
    const { refusal } = this.options
    if (refusal) {
      connection.send('error', '', refusal)
      socket.close(4401, refusal.code)
      return
    }
    socket.on('message', data => {
      const frame = JSON.parse(String(data)) as SeenFrame
      connection.frames.push(frame)
      if (!this.options.onFrame?.(connection, frame)) this.#answer(connection, frame)
    })
  }

  #answer(connection: Connection, { type, id, payload }: SeenFrame): void {
    const { heartbeatMs = 10_000, checkpoints = true, features } = this.options
    switch (type) {
      case 'hello':
        connection.send('hello', id, { protocolVersion: 1, sessionId: 's', heartbeatMs, checkpoints, features })
        break
      case 'runner.register':
        connection.send('runner.registered', id, REPLY)
        break
      case 'invoke.result':
        connection.send('result.ack', id)
        break
      case 'invoke.checkpoint': {
        const steps = payload.opcodes.map(({ id }: { id: string }) => ({ id }))
        connection.send('checkpoint.ack', id, { seq: payload.seq, steps })
        break
      }
      case 'heartbeat':
        connection.send('heartbeat.ack', id)
        break
    }
  }
}
