// `GET /connect`: accepts or refuses upgrades, keeps the sockets, sends their heartbeats, and closes them
// (docs/wire-protocol.md#connect). Opened by http/app.ts.

import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  BEATS_HEADER,
  BEATS_STEP_HEADER,
  CLOSE_CODES,
  CONNECT_FRAME_BYTES_MAX,
  CONNECT_HEARTBEAT_MS,
  CONNECT_SUBPROTOCOL,
  cutText,
  DIALLED_HOST_HEADER,
  NAME_CHARS_MAX,
  SIGNATURE_HEADER,
} from '@perdure/protocol'
import { operations } from '@perdure/protocol/operations'
import type { FastifyInstance } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import { EngineError, shuttingDown } from '../../domain/model/errors.ts'
import { every } from '../../ports/clock.ts'
import type { Actor } from '../../services/commit/audit.ts'
import { admit, isStillAdmitted, isUnknownKey } from '../access/admit.ts'
import { credentialsOf } from '../access/auth.ts'
import type { HttpContext } from '../access/context.ts'
import { mount } from '../access/mount.ts'
import { OpenCounts } from '../bounds/open-counts.ts'
import { statusOf } from '../response/problem.ts'
import { rawResponse } from '../response/raw-response.ts'
import { afterAnswers, isWhole, withoutOffer } from './ignored-upgrade.ts'
import { Inbox } from './inbox.ts'
import { CONNECT_LIMITS, type ConnectLimits } from './limits.ts'
import { type ConnectDeps, Peer, SHUTDOWN_REASON } from './peer.ts'
import { ConnectSocket } from './socket.ts'

/** An open socket and the runner on it. */
interface Connection {
  socket: ConnectSocket
  peer: Peer
  isRegistered: boolean
  /** Whether its API key would still open the socket. */
  isKeyValid(): boolean
}

const PATH = operations.connect.path
/** Most instances in one heartbeat. A runner has at most 16 sockets. */
const BEATS_MAX = 64
/** The actor of a socket that is opened only to be refused by an `error` frame. */
const NO_ACTOR: Actor = { namespace: '' }

/** The actor of a handshake, or why it gets none. */
interface Admission {
  actor: Actor
  refusal?: unknown
  isKeyValid(): boolean
}

/** Lets the hub take upgrades; a plain request gets an error. */
export function connectRoutes(app: FastifyInstance, context: HttpContext): void {
  const hub = new ConnectHub({ ...context.deps, guesses: context.guesses })
  hub.listen(app.server)
  app.addHook('preClose', () => hub.close())
  mount(app, context, operations.connect, async (request, reply) => {
    const beats = request.headers[BEATS_HEADER]
    if (typeof beats === 'string') {
      const instances = beats.split(',', BEATS_MAX).map(instance => instance.trim())
      context.deps.connections.beat(request.actor.namespace, { instances, step: stepOf(request.headers) })
      return reply.code(204).send()
    }
    throw new EngineError('invalid_request', 'this is a WebSocket: the request must be an upgrade')
  })
}

/** The step that a heartbeat names, if it can be read. */
function stepOf({ [BEATS_STEP_HEADER]: text }: IncomingHttpHeaders): string | undefined {
  try {
    return typeof text === 'string' ? cutText(decodeURIComponent(text), NAME_CHARS_MAX) : undefined
  } catch {
    return undefined
  }
}

export class ConnectHub {
  readonly #deps: ConnectDeps
  readonly #limits: ConnectLimits
  readonly #server: WebSocketServer
  readonly #connections = new Set<Connection>()
  readonly #sockets: OpenCounts
  /** One for each closed socket whose removal is not finished. */
  readonly #leaving = new Set<Promise<void>>()
  /** Connections with an ignored upgrade, until they are returned to the server. */
  readonly #ignoredUpgrades = new Set<Socket>()
  /** The upgrades whose callers have shown a key that opens the socket. */
  readonly #admitted = new WeakSet<IncomingMessage>()
  #stopHeartbeats: (() => void) | undefined
  #heartbeatCount = 0
  #isClosing = false

  constructor(deps: ConnectDeps, limits: Partial<ConnectLimits> = {}) {
    this.#deps = deps
    this.#limits = { ...CONNECT_LIMITS, ...limits }
    const { sockets: perNamespace, keySockets: perKey } = deps.openLimits
    this.#sockets = new OpenCounts({ name: 'sockets', all: this.#limits.socketsMax, perNamespace, perKey })
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: CONNECT_FRAME_BYTES_MAX,
      handleProtocols: offered => (offered.has(CONNECT_SUBPROTOCOL) ? CONNECT_SUBPROTOCOL : false),
      // The type definitions lack this option.
      ...{ closeTimeout: this.#limits.closeMs },
    })
    deps.keys.onChange(() => this.#checkKeys())
    this.#server.on('wsClientError', (error, stream, request) =>
      // A client with another WebSocket version learns which one is supported (RFC 6455, section 4.4).
      refuse(stream, malformed(error, request), [['sec-websocket-version', '13']]),
    )
    // Proves the engine's identity to the runner, which chose the signed key (docs/wire-protocol.md#proof-of-the-engine).
    this.#server.on('headers', (headers, request) => {
      // Nothing signed is sent to a caller that has not shown a key.
      if (!this.#admitted.has(request)) return
      const nonce = request.headers['sec-websocket-key'] ?? ''
      const host = request.headers[DIALLED_HOST_HEADER]
      headers.push(`${SIGNATURE_HEADER}: ${deps.proof(nonce, typeof host === 'string' ? host : undefined)}`)
    })
  }

  listen(server: Server): void {
    server.on('upgrade', (request, stream, head) => {
      if (request.headers.upgrade?.toLowerCase() === 'websocket') void this.#upgrade(request, stream, head)
      else this.#ignoreUpgrade(server, request, stream as Socket, head)
    })
  }

  /** Closes every socket, and resolves when all are gone. */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const { socket } of this.#connections) socket.close(CLOSE_CODES.draining, SHUTDOWN_REASON)
    for (const socket of this.#ignoredUpgrades) socket.destroy()
    while (this.#leaving.size > 0) await Promise.all(this.#leaving)
  }

  async #upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    stream.on('error', () => stream.destroy())
    const admission = await this.#admit(request)
    const refusal = this.#refusal(request, admission)
    if (refusal) {
      refuse(stream, refusal)
      return
    }
    if (admission.refusal === undefined) this.#admitted.add(request)
    this.#server.handleUpgrade(request, stream, head, ws => this.#accept(ws, stream, admission))
  }

  async #admit(request: IncomingMessage): Promise<Admission> {
    const { keys, guesses } = this.#deps
    const { authorization } = request.headers
    const { remoteAddress } = request.socket
    const given = [this.#deps, credentialsOf(request.headers), operations.connect] as const
    const letIn = () => {
      const actor = admit(...given)
      return { actor, isKeyValid: () => isStillAdmitted(actor, ...given) }
    }
    try {
      guesses.refuseSpent(authorization, remoteAddress)
      try {
        return letIn()
      } catch (error) {
        if (!isUnknownKey(error, request.headers)) throw error
        await keys.reread()
        return letIn()
      }
    } catch (error) {
      const refusal = guesses.counted(error, authorization, remoteAddress)
      return { actor: NO_ACTOR, refusal, isKeyValid: () => false }
    }
  }

  /** Answers a request as if it had not offered its upgrade, which is to another protocol. */
  #ignoreUpgrade(server: Server, request: IncomingMessage, socket: Socket, head: Buffer): void {
    const release = () => {
      socket.off('error', release).off('close', release)
      this.#ignoredUpgrades.delete(socket)
    }
    this.#ignoredUpgrades.add(socket)
    socket.on('error', release).on('close', release)
    afterAnswers(socket, () => {
      // The last of the earlier answers may have ended the connection.
      if (!socket.writable) return
      if (!isWhole(request)) {
        refuse(socket, new EngineError('invalid_request', 'there are too many headers'))
        return
      }
      release()
      withoutOffer(server, request, socket, head)
    })
  }

  #refusal({ url = '' }: IncomingMessage, { actor, refusal }: Admission): EngineError | undefined {
    if (url.split('?', 1)[0] !== PATH) {
      return new EngineError('invalid_request', `the only WebSocket is ${PATH}`)
    }
    if (this.#isClosing || this.#deps.connections.isDraining) {
      return shuttingDown()
    }
    if (this.#connections.size >= this.#limits.socketsMax)
      return new EngineError('overloaded', `${this.#limits.socketsMax} sockets are open, the maximum`)
    try {
      if (refusal === undefined) this.#sockets.check(actor)
      return undefined
    } catch (error) {
      return error as EngineError
    }
  }

  #accept(ws: WebSocket, stream: Duplex, { actor, refusal, isKeyValid }: Admission): void {
    const { clock } = this.#deps
    const leave = refusal === undefined ? this.#sockets.enter(actor) : () => {}
    const gone = new Promise<void>(resolve => ws.on('close', () => resolve()))
    const cancelRegisterTimer = clock.after(this.#limits.registerMs, () => {
      peer.fail(new EngineError('invalid_request', 'runner.register was not received in time'), CLOSE_CODES.protocol)
    })
    const onOver = () => {
      cancelRegisterTimer()
      leave()
      this.#remove(connection, gone)
    }
    const onUnblocked = () => peer.drained()
    const socket = new ConnectSocket({ ws, stream, clock, limits: this.#limits, onOver, onUnblocked })
    const onRegistered = () => {
      cancelRegisterTimer()
      connection.isRegistered = true
    }
    const peer = new Peer({ deps: this.#deps, socket, actor, onRegistered })
    const connection: Connection = { socket, peer, isRegistered: false, isKeyValid }
    this.#connections.add(connection)
    this.#stopHeartbeats ??= every(clock, CONNECT_HEARTBEAT_MS, () => this.#sendHeartbeats())
    if (refusal) peer.fail(refusal, CLOSE_CODES.auth)
    else if (ws.protocol !== CONNECT_SUBPROTOCOL) {
      const problem = `the subprotocol ${CONNECT_SUBPROTOCOL} must be offered`
      peer.fail(new EngineError('protocol_mismatch', problem), CLOSE_CODES.protocol)
    } else this.#listenTo(connection, ws, stream)
  }

  #listenTo({ peer, socket }: Connection, ws: WebSocket, stream: Duplex): void {
    const inbox = new Inbox({ memory: this.#deps.messages, socket, receive: text => peer.receive(text) })
    stream.on('drain', () => peer.drained())
    ws.on('message', (data: Buffer, isBinary: boolean) => {
      if (isBinary) peer.fail(new EngineError('invalid_request', 'a frame must be text'), CLOSE_CODES.protocol)
      else inbox.take(data)
    })
  }

  #remove(connection: Connection, gone: Promise<void>): void {
    this.#connections.delete(connection)
    if (this.#connections.size === 0) {
      this.#stopHeartbeats?.()
      this.#stopHeartbeats = undefined
    }
    const left = Promise.all([gone, connection.peer.closed()]).then(() => {
      this.#leaving.delete(left)
    })
    this.#leaving.add(left)
  }

  #sendHeartbeats(): void {
    const id = `beat_${++this.#heartbeatCount}`
    for (const { socket, isRegistered } of this.#connections) if (isRegistered) socket.heartbeat(id)
  }

  /** Called when the keys have changed: closes the sockets that they would no longer open. */
  #checkKeys(): void {
    const problem = new EngineError('unauthorized', 'the API key of this socket is no longer valid')
    for (const { peer, isKeyValid } of this.#connections) if (!isKeyValid()) peer.fail(problem, CLOSE_CODES.auth)
  }
}

function refuse(stream: Duplex, refusal: EngineError, headers: readonly [string, string][] = []): void {
  const requestId = `req_${randomBytes(8).toString('hex')}`
  stream.end(rawResponse(statusOf(refusal.code), refusal, requestId, headers), () => stream.destroy())
}

/** The refusal of a handshake that `ws` finds malformed. */
function malformed({ message }: Error, { method }: IncomingMessage): EngineError {
  if (method === 'GET') return new EngineError('invalid_request', `the upgrade is malformed: ${message}`)
  const details = { allow: ['GET'] }
  return new EngineError('method_not_allowed', 'a WebSocket is opened by GET', { details })
}
