// `GET /connect`: takes the upgrades, keeps the sockets, asks them for signs of life, and closes them. Opened by
// routes/connect.ts.

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  CLOSE_CODES,
  CONNECT_FRAME_BYTES_MAX,
  CONNECT_HEARTBEAT_MS,
  CONNECT_SUBPROTOCOL,
  SIGNATURE_HEADER,
} from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import { type WebSocket, WebSocketServer } from 'ws'
import { EngineError } from '../../domain/model/errors.ts'
import { authenticate, isStillAdmitted } from '../access/auth.ts'
import type { Actor } from '../access/deps.ts'
import { statusOf } from '../response/problem.ts'
import { rawAnswer } from '../response/raw-answer.ts'
import { CONNECT_LIMITS, type ConnectLimits } from './limits.ts'
import { afterAnswers, isWhole, withoutOffer } from './offered-upgrade.ts'
import { type ConnectDeps, Peer } from './peer.ts'
import { ConnectSocket } from './socket.ts'

/** A socket, and who is on it. */
interface Connected {
  socket: ConnectSocket
  peer: Peer
  isRegistered: boolean
  /** Whether what it came with would still let it in. */
  isAdmitted(): boolean
}

const PATH = operations.connect.path
const NOBODY: Actor = { namespace: '' }

export class ConnectHub {
  readonly #deps: ConnectDeps
  readonly #limits: ConnectLimits
  readonly #server: WebSocketServer
  readonly #connected = new Set<Connected>()
  /** Sockets that are over, until nothing is left of them. */
  readonly #leaving = new Set<Promise<void>>()
  /** Connections whose upgrade is let pass, while they are nobody else's. */
  readonly #plain = new Set<Socket>()
  #stopBeats: (() => void) | undefined
  #beats = 0
  #isClosing = false

  constructor(deps: ConnectDeps, limits: Partial<ConnectLimits> = {}) {
    this.#deps = deps
    this.#limits = { ...CONNECT_LIMITS, ...limits }
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: CONNECT_FRAME_BYTES_MAX,
      handleProtocols: offered => (offered.has(CONNECT_SUBPROTOCOL) ? CONNECT_SUBPROTOCOL : false),
      // The types do not know it yet.
      ...{ closeTimeout: this.#limits.closeMs },
    })
    deps.keys.onChange(() => this.#checkKeys())
    this.#server.on('wsClientError', (error, stream, request) =>
      // A client of another version learns which one is spoken (RFC 6455, section 4.4).
      refuse(stream, malformed(error, request), [['sec-websocket-version', '13']]),
    )
    // So that a runner can tell whom it dialled: the engine signs what this runner alone has chosen.
    this.#server.on('headers', (headers, request) => {
      headers.push(`${SIGNATURE_HEADER}: ${deps.sign(request.headers['sec-websocket-key'] ?? '')}`)
    })
  }

  /** How many sockets are open. */
  get size(): number {
    return this.#connected.size
  }

  listen(server: Server): void {
    server.on('upgrade', (request, stream, head) => {
      if (isWebSocket(request)) this.#upgrade(request, stream, head)
      else this.#letPass(server, request, stream as Socket, head)
    })
  }

  /** Closes every socket, and resolves when all are gone. */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const { socket } of this.#connected) socket.close(CLOSE_CODES.draining, 'the engine shuts down')
    for (const socket of this.#plain) socket.destroy()
    while (this.#leaving.size > 0) await Promise.all(this.#leaving)
  }

  #upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    stream.on('error', () => stream.destroy())
    const refusal = this.#refusal(request)
    if (refusal) refuse(stream, refusal)
    else this.#server.handleUpgrade(request, stream, head, ws => this.#accept(ws, request, stream))
  }

  /** Any other upgrade is an offer that nobody has to take: the request is answered as if it were not there. */
  #letPass(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
    const release = () => {
      socket.off('error', release).off('close', release)
      this.#plain.delete(socket)
    }
    this.#plain.add(socket)
    socket.on('error', release).on('close', release)
    afterAnswers(socket, () => {
      // Else the last of those answers has ended the connection.
      if (!socket.writable) return
      if (!isWhole(request)) {
        refuse(socket, new EngineError('invalid_request', 'there are too many headers'))
        return
      }
      release()
      withoutOffer(server, request, socket, head)
    })
  }

  #refusal({ url = '' }: IncomingMessage): EngineError | undefined {
    if (url.split('?', 1)[0] !== PATH) {
      return new EngineError('invalid_request', `the only WebSocket is ${PATH}`)
    }
    if (this.#isClosing || this.#deps.connections.isDraining) {
      return new EngineError('unavailable', 'the engine is shutting down')
    }
    if (this.#connected.size < this.#limits.socketsMax) return undefined
    return new EngineError('overloaded', `${this.#limits.socketsMax} sockets are open, which is the most`)
  }

  #accept(ws: WebSocket, request: IncomingMessage, stream: Duplex): void {
    const { keys, corsOrigins, clock } = this.#deps
    const { authorization, host, origin } = request.headers
    const asked = [keys, { authorization, host, origin }, operations.connect, corsOrigins] as const
    let actor = NOBODY
    let refusal: unknown
    try {
      actor = authenticate(...asked)
    } catch (error) {
      refusal = error
    }
    const gone = new Promise<void>(resolve => ws.on('close', () => resolve()))
    const registerBy = clock.at(clock.now() + this.#limits.registerMs, () => {
      peer.fail(
        new EngineError('invalid_request', 'runner.register did not come in time'),
        CLOSE_CODES.protocol,
      )
    })
    const onOver = () => {
      registerBy()
      this.#leave(connected, gone)
    }
    const socket = new ConnectSocket({ ws, stream, clock, limits: this.#limits, onOver })
    const onRegistered = () => {
      registerBy()
      connected.isRegistered = true
    }
    const peer = new Peer({ deps: this.#deps, socket, actor, onRegistered })
    const connected: Connected = {
      socket,
      peer,
      isRegistered: false,
      isAdmitted: () => isStillAdmitted(actor, ...asked),
    }
    this.#connected.add(connected)
    this.#startBeats()
    if (refusal) peer.fail(refusal, CLOSE_CODES.auth)
    else if (ws.protocol !== CONNECT_SUBPROTOCOL) peer.fail(noSubprotocol(), CLOSE_CODES.protocol)
    else this.#follow(connected, ws, stream)
  }

  #follow({ peer }: Connected, ws: WebSocket, stream: Duplex): void {
    stream.on('drain', () => peer.drained())
    ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary)
        peer.fail(new EngineError('invalid_request', 'a frame must be text'), CLOSE_CODES.protocol)
      else peer.take(data.toString())
    })
  }

  #leave(connected: Connected, gone: Promise<void>): void {
    this.#connected.delete(connected)
    if (this.#connected.size === 0) this.#stopBeats?.()
    const left = Promise.all([gone, connected.peer.closed()]).then(() => {
      this.#leaving.delete(left)
    })
    this.#leaving.add(left)
  }

  #startBeats(): void {
    if (this.#stopBeats) return
    const { clock } = this.#deps
    const cancel = clock.at(clock.now() + CONNECT_HEARTBEAT_MS, () => {
      this.#stopBeats = undefined
      this.#beat()
      if (this.#connected.size > 0) this.#startBeats()
    })
    this.#stopBeats = () => {
      this.#stopBeats = undefined
      cancel()
    }
  }

  #beat(): void {
    const id = `beat_${++this.#beats}`
    for (const { socket, isRegistered } of this.#connected) if (isRegistered) socket.beat(id)
  }

  /** Whom the keys would not let in any more has to leave. */
  #checkKeys(): void {
    const problem = new EngineError('unauthorized', 'the keys have changed, and would not let it in any more')
    for (const { peer, isAdmitted } of this.#connected)
      if (!isAdmitted()) peer.fail(problem, CLOSE_CODES.auth)
  }
}

function refuse(stream: Duplex, refusal: EngineError, headers: readonly [string, string][] = []): void {
  const requestId = `req_${randomBytes(8).toString('hex')}`
  stream.end(rawAnswer(statusOf(refusal.code), refusal, requestId, headers), () => stream.destroy())
}

/** What `ws` finds wrong with a handshake. */
function malformed({ message }: Error, { method }: IncomingMessage): EngineError {
  if (method === 'GET') return new EngineError('invalid_request', `the upgrade is malformed: ${message}`)
  const details = { allow: ['GET'] }
  return new EngineError('method_not_allowed', 'a WebSocket is opened by GET', { details })
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

function noSubprotocol(): EngineError {
  return new EngineError('protocol_mismatch', `the subprotocol ${CONNECT_SUBPROTOCOL} must be offered`)
}
