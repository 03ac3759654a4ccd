// Keeps one socket of a runner registered: connects, sends `hello`, registers, passes frames to the passes, and connects
// again whenever the socket ends, until the runner is closed. Created by connect.ts.

import { setTimeout as delay } from 'node:timers/promises'
import {
  type ConnectRegister,
  DIALLED_HOST_HEADER,
  PROTOCOL_VERSION,
  type RegisterReply,
  SIGNATURE_FEATURE,
} from '@perdure/protocol'
import { answerRefusal } from '../replay/answer.ts'
import { reconnectDelayMs } from './backoff.ts'
import { readError, registrationRefused, type SocketEnd, unreachable, untrusted } from './failure.ts'
import { fieldOf, frameText, type IncomingFrame, resultText } from './frames.ts'
import { type ConnectSettings, concurrencyOf } from './options.ts'
import type { Outlet, Passes } from './passes.ts'
import { EngineSocket } from './socket.ts'

interface LinkOptions {
  settings: ConnectSettings
  passes: Passes
  /** Number of this socket among the runner's sockets, from 0. */
  index: number
  onRegistered(reply: RegisterReply): void
  /** The socket ended; the link connects again. */
  onLost(end: SocketEnd): void
  onWarning(message: string): void
}

/** How long a closing runner waits for an engine that is away. The engine does not wait longer for a result, either. */
const ENDING_AWAY_MS_MAX = 5_000
/** Longest time from the handshake to the registration. */
const REGISTER_MS_MAX = 10_000
const PROOF = `the header ${DIALLED_HOST_HEADER} of the handshake`
const HELLO_ID = 'hello'
const REGISTER_ID = 'register'
const ENDING_ID = 'ending'
/** Answer to an invoke that arrives while the runner closes: the engine retries it with another runner. */
const ENDING_ANSWER = answerRefusal(503, 'The runner ends')

export class Link implements Outlet {
  readonly #options: LinkOptions
  readonly #stopping = new AbortController()
  #socket: EngineSocket | undefined
  #registered = false
  /** Whether the engine has registered this link before. */
  #wasRegistered = false
  #checkpoints = false
  #ending = false
  /** Connections lost in a row. */
  #failures = 0
  #registerTimer: NodeJS.Timeout | undefined
  #awayTimer: NodeJS.Timeout | undefined
  #ended: Promise<void> = Promise.resolve()

  constructor(options: LinkOptions) {
    this.#options = options
  }

  get registered(): boolean {
    return this.#registered
  }

  start(): void {
    this.#ended = this.#keepConnected()
  }

  /** Sends a frame of a pass. Without a registered socket it is dropped: the link sends it again after it registers. */
  send(frame: string): void {
    if (this.#registered) this.#socket?.send(frame)
  }

  /**
   * Ends the link: starts no further pass, lets the passes in flight finish, and closes the socket when the engine has
   * acknowledged their results, at the latest after `timeoutMs`. Resolves when the socket is closed.
   */
  async end(timeoutMs: number): Promise<void> {
    const { passes } = this.#options
    this.#ending = true
    if (this.#registered) this.#limitToCurrentPasses()
    else {
      clearTimeout(this.#awayTimer)
      this.#awayTimer = this.#absenceTimer()
    }
    const deadline = new AbortController()
    const late = delay(timeoutMs, undefined, { signal: deadline.signal }).catch(() => undefined)
    await Promise.race([passes.idle(this), late])
    deadline.abort()
    passes.abandon(this, new Error('The runner ends'))
    this.#stopping.abort()
    clearTimeout(this.#awayTimer)
    this.#socket?.close()
    await this.#ended
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const end = await this.#connection()
      clearTimeout(this.#registerTimer)
      this.#registered = false
      if (signal.aborted) return
      this.#failures++
      this.#options.onLost(end)
      // Without a runner id the engine treats the next socket as another runner, so it expects no results of these passes.
      if (this.#isNamed) this.#awayTimer ??= this.#absenceTimer()
      else this.#options.passes.abandon(this, end.error)
      const { retryInitialMs: initialMs } = this.#options.settings
      const { closeCode } = end
      const ms = reconnectDelayMs({ closeCode, failures: this.#failures, initialMs, random: Math.random() })
      await delay(ms, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Opens a socket. Resolves when the socket has ended. */
  #connection(): Promise<SocketEnd> {
    const { url, apiKey, signingKeys } = this.#options.settings
    return new Promise(resolve => {
      const socket = new EngineSocket({
        url,
        apiKey,
        signingKeys,
        onOpen: () => this.#opened(socket),
        onFrame: frame => this.#frame(socket, frame),
        onEnd: resolve,
      })
      this.#socket = socket
    })
  }

  #opened(socket: EngineSocket): void {
    const { settings, index } = this.#options
    const instance = `${settings.instance}-${index}`
    socket.send(frameText('hello', HELLO_ID, { protocolVersion: PROTOCOL_VERSION, instance }))
    this.#registerTimer = setTimeout(
      () => socket.fail(unreachable(`The engine did not register the runner within ${REGISTER_MS_MAX} ms`)),
      REGISTER_MS_MAX,
    )
  }

  #frame(socket: EngineSocket, { type, id, payload }: IncomingFrame): void {
    const { passes } = this.#options
    switch (type) {
      case 'invoke':
        if (this.#ending) socket.send(resultText(id, ENDING_ANSWER))
        else passes.start(id, payload, this, this.#checkpoints)
        break
      case 'result.ack':
        passes.acknowledged(id)
        break
      case 'checkpoint.ack':
        passes.checkpointAcknowledged(id, payload)
        break
      case 'invoke.cancel':
        passes.cancel(id)
        break
      case 'hello':
        this.#helloReceived(socket, payload)
        break
      case 'runner.registered':
        if (id === REGISTER_ID) this.#registrationAcknowledged(payload as RegisterReply)
        break
      case 'error':
        this.#errorReceived(socket, id, payload)
        break
    }
  }

  #helloReceived(socket: EngineSocket, payload: unknown): void {
    const features = fieldOf(payload, 'features')
    if (socket.isProvenAsBefore && Array.isArray(features) && features.includes(SIGNATURE_FEATURE)) {
      socket.fail(untrusted(`The engine signs for the host that is dialled, and did not: something removes ${PROOF}`))
      return
    }
    const heartbeatMs = fieldOf(payload, 'heartbeatMs')
    const { settings, passes, index } = this.#options
    this.#checkpoints = settings.checkpoints && fieldOf(payload, 'checkpoints') === true
    socket.keepAlive(typeof heartbeatMs === 'number' ? heartbeatMs : 0)
    const maxConcurrency = concurrencyOf(settings, index)
    const underWay = this.#wasRegistered && this.#isNamed ? passes.underWay(this) : undefined
    this.#register(socket, REGISTER_ID, { maxConcurrency, underWay })
  }

  #register(socket: EngineSocket, id: string, terms: Pick<ConnectRegister, 'maxConcurrency' | 'underWay'>) {
    socket.send(frameText('runner.register', id, { ...this.#options.settings.registration, ...terms }))
  }

  /** Stops further invokes: registers a limit of one pass while a pass is in flight. */
  #limitToCurrentPasses(): void {
    const isIdle = this.#options.passes.underWay(this).length === 0
    if (this.#socket && !isIdle) this.#register(this.#socket, ENDING_ID, { maxConcurrency: 1 })
  }

  #registrationAcknowledged(reply: RegisterReply): void {
    clearTimeout(this.#registerTimer)
    clearTimeout(this.#awayTimer)
    this.#awayTimer = undefined
    this.#failures = 0
    this.#wasRegistered = true
    this.#registered = true
    for (const frame of this.#options.passes.unacknowledged(this)) this.send(frame)
    if (this.#ending) this.#limitToCurrentPasses()
    this.#options.onRegistered(reply)
  }

  #errorReceived(socket: EngineSocket, id: string, payload: unknown): void {
    const error = readError(payload)
    socket.keepError(error)
    if (this.#registered) this.#options.onWarning(`${error.message} (${error.code})`)
    else if (id === REGISTER_ID) socket.fail(registrationRefused(error))
  }

  get #isNamed(): boolean {
    return this.#options.settings.registration.runner !== undefined
  }

  /** Starts the timer that cancels the passes in flight when the engine stays away too long. */
  #absenceTimer(): NodeJS.Timeout {
    const { settings, passes } = this.#options
    const { awayTimeoutMs } = settings
    const timeoutMs = this.#ending ? Math.min(ENDING_AWAY_MS_MAX, awayTimeoutMs) : awayTimeoutMs
    const reason = new Error(`The engine has been away for ${timeoutMs} ms`)
    return setTimeout(() => passes.abandon(this, reason), timeoutMs).unref()
  }
}
