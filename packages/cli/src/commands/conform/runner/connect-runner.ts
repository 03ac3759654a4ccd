// The runner under test over Connect: listens as an engine would, waits until the runner has dialled and registered, and
// sends invokes on its socket. Called by suite.ts.

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  CLOSE_CODES,
  CONNECT_FRAME_BYTES_MAX,
  CONNECT_SUBPROTOCOL,
  DIALLED_HOST_HEADER,
  type Frame,
  PROTOCOL_VERSION,
  recipientOf,
  SIGNATURE_HEADER,
  signBody,
  signFor,
} from '@perdure/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import { RefusedError } from '../../../command-line/exit.ts'
import { member } from './expectations.ts'
import { requestsOf } from './requests.ts'
import { type Answer, Fault, type PassRequest, type RunnerUnderTest } from './runner.ts'

export interface ConnectRunnerOptions {
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

export class ConnectRunner implements RunnerUnderTest {
  readonly options: ConnectRunnerOptions
  readonly #server = createServer((_, response) => response.writeHead(426).end())
  readonly #sockets: WebSocketServer
  readonly #requestOf: (pass: PassRequest) => object
  readonly #answers = new Map<string, (answer: Answer) => void>()
  /** Called with the next event: a runner has registered, or a socket was closed by its runner. */
  readonly #events = new Set<(event: Dialled | 'closed') => void>()
  #current: Dialled | undefined
  #frames = 0
  /** Answers upgrades with a signature of this key in place of the right one. */
  proofKey: string | undefined

  constructor(options: ConnectRunnerOptions) {
    this.options = options
    this.proofKey = options.signingKey
    this.#requestOf = requestsOf({ app: options.app, features: [] })
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

  /** Listens; answers the address that runners dial. Rejects with a RefusedError if it cannot. */
  async listen(): Promise<string> {
    const { host, port } = this.options
    this.#server.listen(port, host)
    await once(this.#server, 'listening').catch((cause: Error) => {
      throw new RefusedError(`cannot listen on ${host}:${port}: ${cause.message}`)
    })
    return `http://${host}:${(this.#server.address() as AddressInfo).port}`
  }

  get current(): Dialled {
    if (!this.#current) throw new Fault('expected the runner to have a registered socket, and it has none')
    return this.#current
  }

  /** The runner once it has registered. Throws a Fault if it does not within the time. */
  async registered(withinMs = this.options.timeoutMs): Promise<Dialled> {
    if (this.#current) return this.#current
    const event = await this.#next(event => event !== 'closed', withinMs)
    if (event === undefined || event === 'closed')
      throw new Fault(`expected the runner to register within ${withinMs} ms`)
    return event
  }

  /** The first event within the time: a registration, or the end of a socket; undefined: nothing. */
  nextEvent(withinMs: number): Promise<Dialled | 'closed' | undefined> {
    return this.#next(() => true, withinMs)
  }

  /** Cuts the socket, like a network that fails. */
  cut(): void {
    this.#current?.socket.terminate()
    this.#current = undefined
  }

  /** Sends a frame of any type. */
  send(type: string, payload: unknown): void {
    this.current.socket.send(JSON.stringify({ type, id: `conform-${++this.#frames}`, payload }))
  }

  async pass(request: PassRequest): Promise<Answer> {
    const { timeoutMs, signal } = this.options
    const { socket } = this.current
    const id = `invoke-${++this.#frames}`
    const answered = new Promise<Answer>(resolve => this.#answers.set(id, resolve))
    socket.send(JSON.stringify({ type: 'invoke', id, payload: { ...this.#requestOf(request), deadlineMs: timeoutMs } }))
    const answer = await within(answered, timeoutMs, signal)
    this.#answers.delete(id)
    if (!answer) throw new Fault(`expected an invoke.result with the id of the invoke within ${timeoutMs} ms, got none`)
    socket.send(JSON.stringify({ type: 'result.ack', id, payload: {} }))
    return answer
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.close(CLOSE_CODES.draining)
    this.#sockets.close()
    this.#server.close()
    this.#server.closeAllConnections()
    for (const socket of this.#sockets.clients) socket.terminate()
  }

  #take(socket: WebSocket): void {
    let hello: unknown
    const answer = (type: string, id: unknown, payload: unknown) => socket.send(JSON.stringify({ type, id, payload }))
    socket.on('error', () => {})
    socket.on('close', () => {
      if (this.#current?.socket === socket) this.#current = undefined
      this.#notify('closed')
    })
    socket.on('message', data => {
      const { type, id, payload } = frameOf(String(data))
      if (type === 'hello') {
        hello = payload ?? {}
        answer('hello', id, HELLO)
      } else if (type === 'runner.register') {
        answer('runner.registered', id, { ...REGISTERED, runnerId: member(payload, 'runner') ?? 'conform' })
        this.#current = { socket, hello, registration: payload }
        this.#notify(this.#current)
      } else if (type === 'invoke.result') {
        this.#answers.get(String(id))?.({ status: Number(member(payload, 'status')), body: member(payload, 'body') })
      } else if (type === 'heartbeat') answer('heartbeat.ack', id, {})
    })
  }

  #notify(event: Dialled | 'closed'): void {
    for (const listener of [...this.#events]) listener(event)
  }

  async #next(wanted: (event: Dialled | 'closed') => boolean, withinMs: number) {
    let listener: (event: Dialled | 'closed') => void = () => {}
    const happened = new Promise<Dialled | 'closed'>(resolve => {
      listener = event => {
        if (wanted(event)) resolve(event)
      }
      this.#events.add(listener)
    })
    try {
      return await within(happened, withinMs, this.options.signal)
    } finally {
      this.#events.delete(listener)
    }
  }

  /** The proof that the engine is the one that the runner dialled (docs/wire-protocol.md#proof-of-the-engine). */
  #proof({ headers }: IncomingMessage): string {
    const keys = this.proofKey === undefined ? [] : [this.proofKey]
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

function frameOf(text: string): Partial<Frame> {
  try {
    return (JSON.parse(text) ?? {}) as Partial<Frame>
  } catch {
    return {}
  }
}

/** The value, or undefined if it does not come in time. Rejects when the signal is aborted. */
async function within<T>(value: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  let interrupt: () => void = () => {}
  const late = new Promise<undefined>((resolve, reject) => {
    timer = setTimeout(resolve, ms, undefined)
    interrupt = () => reject(signal.reason)
    signal.addEventListener('abort', interrupt, { once: true })
  })
  try {
    return await Promise.race([value, late])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', interrupt)
  }
}
