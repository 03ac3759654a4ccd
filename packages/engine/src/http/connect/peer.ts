// One runner on a Connect socket: handles the frames that it sends, and answers them (docs/wire-protocol.md#frames). The hub
// opens one per socket.

import { randomBytes } from 'node:crypto'
import {
  CLOSE_CODES,
  CONNECT_FRAME_BYTES_MAX,
  CONNECT_HEARTBEAT_MS,
  type ConnectRegister,
  FEATURES,
  type FrameType,
  type HelloReply,
  knows,
  PROTOCOL_VERSION,
  type RegisterReply,
  type RegisterRequest,
} from '@perdure/protocol'
import { EngineError } from '../../domain/model/errors.ts'
import type { RunnerConnection } from '../../ports/connections.ts'
import type { RunAccess } from '../../services/admin/run-access.ts'
import type { Actor } from '../../services/commit/audit.ts'
import type { AnotherPass } from '../../services/pass/another-pass.ts'
import type { Registry } from '../../services/registry/register.ts'
import type { HttpDeps } from '../access/deps.ts'
import type { KeyGuesses } from '../access/key-guesses.ts'
import { namingWorkflow } from '../request/registration.ts'
import { problemOf } from '../response/problem.ts'
import { type IncomingFrame, readCheckpoint, readFrame, readResult } from './frames.ts'
import { checkAgain, checkConnectRegister, checkHello, registrationOf } from './register.ts'
import type { ConnectSocket } from './socket.ts'

export type ConnectDeps = Pick<
  HttpDeps,
  'connections' | 'keys' | 'corsOrigins' | 'openLimits' | 'clock' | 'log' | 'proof' | 'messages'
> & {
  anotherPass: Pick<AnotherPass, 'requestFor'>
  registry: Pick<Registry, 'register' | 'forget'>
  guesses: Pick<KeyGuesses, 'refuseSpent' | 'counted'>
  runAccess: Pick<RunAccess, 'read'>
}

export interface PeerOptions {
  deps: ConnectDeps
  socket: ConnectSocket
  actor: Actor
  /** Called when the first registration is durable. */
  onRegistered(): void
}

/** Close reason of every socket when the engine stops. */
export const SHUTDOWN_REASON = 'the engine shuts down'

export class Peer {
  /** By type of frame. Null: only the engine sends it, so it is ignored, like unknown types. */
  static readonly #HANDLERS: Readonly<Record<FrameType, ((peer: Peer, frame: IncomingFrame) => void) | null>> = {
    hello: (peer, frame) => peer.#hello(frame),
    'runner.register': (peer, frame) => peer.#register(frame),
    'invoke.result': (peer, frame) => peer.#result(frame),
    'invoke.checkpoint': (peer, frame) => peer.#checkpoint(frame),
    'invoke.again': (peer, frame) => peer.#again(frame),
    'invoke.stream': (peer, frame) => peer.#append(frame),
    heartbeat: (peer, { id }) => peer.#options.socket.send('heartbeat.ack', id),
    // A sign of life, like every frame, and nothing else.
    'heartbeat.ack': null,
    'runner.registered': null,
    invoke: null,
    'result.ack': null,
    'checkpoint.ack': null,
    'invoke.cancel': null,
    'again.ack': null,
    'stream.ack': null,
    drain: null,
    error: null,
  }
  readonly #options: PeerOptions
  readonly #socketId = `ses_${randomBytes(12).toString('hex')}`
  #instance: string | undefined
  #connection: RunnerConnection | undefined
  #registered: RegisterRequest | undefined
  /** Frames that arrived while a registration was being made durable. */
  #queued: IncomingFrame[] = []
  #registering: Promise<void> | undefined
  constructor(options: PeerOptions) {
    this.#options = options
  }

  receive(text: string): void {
    this.#options.socket.seen()
    let frame: IncomingFrame
    try {
      frame = readFrame(text)
    } catch (error) {
      this.fail(error, CLOSE_CODES.protocol)
      return
    }
    if (this.#registering) this.#queued.push(frame)
    else this.#handle(frame)
  }

  /** Sends an `error` frame and closes the socket. */
  fail(error: unknown, closeCode: number, id = ''): void {
    const { socket } = this.#options
    socket.send('error', id, this.#problem(error))
    socket.close(closeCode, problemOf(error).code)
  }

  /** Called when the runner has read everything that was sent. */
  drained(): void {
    this.#connection?.drained()
  }

  /** Called when the socket is closed. Resolves when a pending registration is over and a runner without an id is removed. */
  async closed(): Promise<void> {
    this.#connection?.close()
    this.#queued = []
    await this.#registering
    const { deps, actor } = this.#options
    const registered = this.#registered
    if (!registered) return
    const { app, runner, url } = registered
    deps.log.info({ namespace: actor.namespace, app, runner: runner ?? url }, 'runner disconnected')
    if (runner !== undefined) return
    try {
      await deps.registry.forget({ namespace: actor.namespace, app, runnerId: url })
    } catch (error) {
      deps.log.error({ err: error }, 'a disconnected runner could not be removed')
    }
  }

  #handle(frame: IncomingFrame): void {
    if (this.#options.socket.isOver || !Object.hasOwn(Peer.#HANDLERS, frame.type)) return
    try {
      Peer.#HANDLERS[frame.type as FrameType]?.(this, frame)
    } catch (error) {
      this.#refuse(error, frame.id)
    }
  }

  #hello({ id, payload }: IncomingFrame): void {
    try {
      this.#instance = checkHello(payload)
    } catch (error) {
      // A runner that knows only four types of frames would wait for the answer.
      this.fail(error, CLOSE_CODES.protocol, id)
      return
    }
    const reply: HelloReply = {
      protocolVersion: PROTOCOL_VERSION,
      sessionId: this.#socketId,
      heartbeatMs: CONNECT_HEARTBEAT_MS,
      maxFrameBytes: CONNECT_FRAME_BYTES_MAX,
      features: [...FEATURES],
      checkpoints: true,
    }
    this.#options.socket.send('hello', id, JSON.stringify(reply))
  }

  #result(frame: IncomingFrame): void {
    const connection = this.#registeredConnection()
    const { status, body } = this.#readFor(connection, frame, readResult)
    const acknowledge = () => this.#options.socket.send('result.ack', frame.id)
    const forwarded = connection.result(frame.id, status, body)
    if (forwarded) void forwarded.then(acknowledge)
    else acknowledge()
  }

  #checkpoint(frame: IncomingFrame): void {
    const connection = this.#registeredConnection()
    connection.checkpoint(frame.id, this.#readFor(connection, frame, readCheckpoint))
  }

  #append(frame: IncomingFrame): void {
    const connection = this.#registeredConnection()
    connection.append(frame.id, this.#readFor(connection, frame, readCheckpoint))
  }

  /** The handler of an answered pass continues. The acknowledgement says that its run has another pass, or needs none. */
  #again({ id, payload }: IncomingFrame): void {
    const { deps, socket, actor } = this.#options
    this.#registeredConnection()
    const asked = checkAgain(payload)
    const { app } = this.#registered as RegisterRequest
    deps.anotherPass.requestFor({ namespace: actor.namespace, app }, asked).then(
      () => socket.send('again.ack', id),
      error => this.#refuse(error, id),
    )
  }

  /** Ends the invoke of a frame that cannot be read, as an unreadable answer over HTTP does. */
  #readFor<T>(connection: RunnerConnection, frame: IncomingFrame, read: (frame: IncomingFrame) => T): T {
    try {
      return read(frame)
    } catch (error) {
      connection.unreadable(frame.id, `the ${frame.type} cannot be read: ${problemOf(error).message}`)
      throw error
    }
  }

  #registeredConnection(): RunnerConnection {
    if (this.#connection) return this.#connection
    throw new EngineError('invalid_request', 'runner.register must come first')
  }

  #register({ id, payload }: IncomingFrame): void {
    const { deps, socket, actor } = this.#options
    if (deps.connections.isDraining) {
      socket.close(CLOSE_CODES.draining, SHUTDOWN_REASON)
      return
    }
    const register = checkConnectRegister(payload)
    const { namespace } = actor
    const request = registrationOf(register, {
      namespace,
      socketId: this.#socketId,
      earlier: this.#registered,
    })
    socket.pause()
    this.#registering = deps.registry
      .register(namespace, request, reply => {
        socket.send('runner.registered', id, JSON.stringify(reply))
        this.#open(register, request, reply)
      })
      .catch(error => this.#refuse(namingWorkflow(error, payload), id))
      .then(() => undefined)
      .finally(() => this.#handleQueued())
  }

  /** Called when the registration is durable: opens the connection, or renews it. */
  #open(terms: ConnectRegister, request: RegisterRequest, reply: RegisterReply): void {
    const { deps, socket, actor, onRegistered } = this.#options
    const { app, runner, url } = request
    this.#registered = request
    if (socket.isOver) return
    if (this.#connection) {
      this.#connection.renew(terms)
      return
    }
    const beats = knows(request.features, 'beats')
    const identity = { url, isNamed: runner !== undefined, instance: this.#instance, beats }
    const { maxConcurrency, underWay, leaving } = terms
    this.#connection = deps.connections.open(socket, { ...identity, maxConcurrency, underWay, leaving })
    onRegistered()
    deps.log.info({ namespace: actor.namespace, app, runner: reply.runnerId }, 'runner connected')
  }

  /**
   * Handles the frames that arrived during the registration; if another registration is among them, the frames after it wait
   * again.
   */
  #handleQueued(): void {
    this.#registering = undefined
    while (!this.#registering) {
      const next = this.#queued.shift()
      if (!next) break
      this.#handle(next)
    }
    if (!this.#registering) this.#options.socket.resume()
  }

  #refuse(error: unknown, id: string): void {
    const isMismatch = error instanceof EngineError && error.code === 'protocol_mismatch'
    if (isMismatch) this.fail(error, CLOSE_CODES.protocol, id)
    else this.#options.socket.send('error', id, this.#problem(error))
  }

  #problem(error: unknown): string {
    if (!(error instanceof EngineError)) this.#options.deps.log.error({ err: error }, 'a frame failed')
    return JSON.stringify(problemOf(error))
  }
}
