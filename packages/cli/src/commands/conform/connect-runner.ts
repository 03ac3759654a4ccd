// The runner under test over Connect: listens as an engine would, waits until the runner has dialled and registered, and
// sends invokes on its socket. Called by suite.ts.

import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  CLOSE_CODES,
  CONNECT_FRAME_BYTES_MAX,
  CONNECT_SUBPROTOCOL,
  DIALLED_HOST_HEADER,
  PROTOCOL_VERSION,
  recipientOf,
  SIGNATURE_HEADER,
  signBody,
  signFor,
} from '@perdure/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import { RefusedError } from '../../command-line/exit.ts'
import { OTHER_KEY } from './http-runner.ts'
import { type Answer, Fault, invokeOf, member, type PassRequest, parsed, type RunnerUnderTest } from './runner.ts'

interface ConnectRunnerOptions {
  host: string
  port: number
  app: string
  /** Proves the engine to the runner. */
  signingKey?: string | undefined
  timeoutMs: number
  signal: AbortSignal
}

/** A runner that has said hello and registered. */
interface Dialled {
  socket: WebSocket
  hello: unknown
  registration: unknown
}

/** How long the suite waits for the first registration: people start the runner by hand. */
const FIRST_WAIT_MS = 120_000
/** Runners wait before they dial again: three times as long as an answer may take. */
const RECONNECT_TIMEOUTS = 3

export class ConnectRunner implements RunnerUnderTest {
  readonly options: ConnectRunnerOptions
  readonly #server = createServer((_, response) => response.writeHead(426).end())
  readonly #sockets: WebSocketServer
  /** `registered`, `closed`, `either` for both with its name, and the ids of invokes with their answers. */
  readonly #events = new EventEmitter()
  #current: Dialled | undefined
  #frames = 0
  #waitMs = FIRST_WAIT_MS
  /** Answers upgrades with a signature by this key. */
  #proofKey: string | undefined

  constructor(options: ConnectRunnerOptions) {
    this.options = options
    this.#proofKey = options.signingKey
    this.#sockets = new WebSocketServer({
      server: this.#server,
      path: '/connect',
      maxPayload: CONNECT_FRAME_BYTES_MAX,
      handleProtocols: offered => (offered.has(CONNECT_SUBPROTOCOL) ? CONNECT_SUBPROTOCOL : false),
    })
    this.#sockets.on('headers', (headers, request) => headers.push(`${SIGNATURE_HEADER}: ${this.#proof(request)}`))
    // An error of the server is emitted here too; `listen` rejects with it.
    this.#sockets.on('error', () => {})
    this.#sockets.on('connection', socket => this.#take(socket))
  }

  /** Listens, and returns the address that runners dial. Rejects with a RefusedError if it cannot. */
  async listen(): Promise<string> {
    const { host, port } = this.options
    this.#server.listen(port, host)
    await once(this.#server, 'listening').catch((cause: Error) => {
      throw new RefusedError(`cannot listen on ${host}:${port}: ${cause.message}`)
    })
    return `http://${host}:${(this.#server.address() as AddressInfo).port}`
  }

  /** Returns the runner once it has registered. Throws a Fault if it does not register in time. */
  async registered(): Promise<Dialled> {
    const waitMs = this.#waitMs
    this.#waitMs = RECONNECT_TIMEOUTS * this.options.timeoutMs
    if (!this.#current) await this.#next('registered', waitMs)
    if (!this.#current) throw new Fault(`expected the runner to register within ${waitMs} ms`)
    return this.#current
  }

  /** Proves to be an engine with another key to the next runner that dials. Throws a Fault if that runner does not leave. */
  async proveWithOtherKey(): Promise<void> {
    this.#proofKey = OTHER_KEY
    const event = await this.#next('either', FIRST_WAIT_MS)
    this.#proofKey = this.options.signingKey
    if (event === 'closed') return
    this.cut()
    if (event) throw new Fault('expected the runner to leave an engine whose proof is wrong, and it registered')
    throw new Fault('expected the runner to dial, and to leave an engine whose proof is wrong')
  }

  async ping(): Promise<void> {
    const { timeoutMs } = this.options
    const socket = this.#socket()
    socket.once('pong', () => this.#events.emit('pong'))
    socket.ping()
    if (!(await this.#next('pong', timeoutMs))) throw new Fault(`expected a pong within ${timeoutMs} ms, got none`)
  }

  /** Cuts the socket, like a network that fails. */
  cut(): void {
    this.#current?.socket.terminate()
    this.#current = undefined
  }

  /** Sends a frame of any type. */
  send(type: string, payload: unknown, id = `conform-${++this.#frames}`): void {
    this.#socket().send(JSON.stringify({ type, id, payload }))
  }

  async pass(request: PassRequest): Promise<Answer> {
    const { app, timeoutMs } = this.options
    const id = `invoke-${++this.#frames}`
    this.send('invoke', { ...invokeOf(app, request), deadlineMs: timeoutMs }, id)
    const answer = await this.#next(id, timeoutMs)
    if (!answer) throw new Fault(`expected an invoke.result with the id of the invoke within ${timeoutMs} ms, got none`)
    if (this.#current) this.send('result.ack', {}, id)
    return answer as Answer
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.close(CLOSE_CODES.draining)
    this.#sockets.close()
    this.#server.close()
    this.#server.closeAllConnections()
    for (const socket of this.#sockets.clients) socket.terminate()
  }

  #socket(): WebSocket {
    if (!this.#current) throw new Fault('expected the runner to have a registered socket, and it has none')
    return this.#current.socket
  }

  #take(socket: WebSocket): void {
    let hello: unknown
    const answer = (type: string, id: unknown, payload: unknown) => socket.send(JSON.stringify({ type, id, payload }))
    socket.on('error', () => {})
    socket.on('close', () => {
      if (this.#current?.socket === socket) this.#current = undefined
      this.#events.emit('either', 'closed')
    })
    socket.on('message', data => {
      const frame = parsed(String(data))
      const [type, id, payload] = ['type', 'id', 'payload'].map(name => member(frame, name))
      if (type === 'hello') {
        hello = payload ?? {}
        answer('hello', id, HELLO)
      } else if (type === 'runner.register') {
        answer('runner.registered', id, { ...REGISTERED, runnerId: member(payload, 'runner') ?? 'conform' })
        this.#current = { socket, hello, registration: payload }
        for (const event of ['registered', 'either']) this.#events.emit(event, 'registered')
      } else if (type === 'invoke.result') {
        const [status, body] = [Number(member(payload, 'status')), member(payload, 'body')]
        this.#events.emit(`${id}`, { status, body } satisfies Answer)
      } else if (type === 'heartbeat') answer('heartbeat.ack', id, {})
    })
  }

  /** Returns the value of the next event; undefined if it does not arrive in time. Rejects when the suite is aborted. */
  async #next(event: string, withinMs: number): Promise<unknown> {
    const { signal } = this.options
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(withinMs)])
    try {
      const [value = true] = await once(this.#events, event, { signal: inTime })
      return value
    } catch {
      if (signal.aborted) throw signal.reason
      return undefined
    }
  }

  /** The proof that the engine is the one that the runner dialled (docs/wire-protocol.md#proof-of-the-engine). */
  #proof({ headers }: IncomingMessage): string {
    const keys = this.#proofKey === undefined ? [] : [this.#proofKey]
    const signed = { keys, body: headers['sec-websocket-key'] ?? '', nowMs: Date.now() }
    const host = headers[DIALLED_HOST_HEADER]
    return typeof host === 'string'
      ? signFor({ ...signed, purpose: 'connect', recipient: recipientOf(host) })
      : signBody(signed)
  }
}

const HELLO = {
  protocolVersion: PROTOCOL_VERSION,
  sessionId: 'conform',
  heartbeatMs: 10_000,
  maxFrameBytes: CONNECT_FRAME_BYTES_MAX,
}
const REGISTERED = {
  ok: true,
  protocolVersion: PROTOCOL_VERSION,
  workflows: 0,
  heartbeatMs: 30_000,
  staleAfterMs: 90_000,
  warnings: [],
}
