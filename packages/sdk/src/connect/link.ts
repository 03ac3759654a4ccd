// Keeps one socket of a runner registered: connects, sends `hello`, registers, passes frames to the passes, and connects
// again whenever the socket ends, until the runner is closed. Created by connect.ts.

import { setTimeout as delay } from 'node:timers/promises'
import {
  CONNECT_HEARTBEAT_MS,
  type ConnectRegister,
  DIALLED_HOST_HEADER,
  type EngineList,
  knows,
  PROTOCOL_VERSION,
  type RegisterReply,
} from '@perdure/protocol'
import { answerRefusal } from '../replay/answer.ts'
import { reconnectDelayMs } from './backoff.ts'
import type { Beats } from './beats.ts'
import { readError, registrationRefused, type SocketEnd, unreachable, untrusted } from './failure.ts'
import { fieldOf, frameText, type IncomingFrame, type Outlet, resultText } from './frames.ts'
import { type ConnectSettings, concurrencyOf } from './options.ts'
import type { Passes } from './passes.ts'
import { EngineSocket } from './socket.ts'

interface LinkOptions {
  settings: ConnectSettings
  passes: Passes
  beats: Pick<Beats, 'start'>
  /** Number of this socket among the runner's sockets, from 0. */
  index: number
  /** `url`: the engine that the socket is, or was, connected to. */
  onRegistered(reply: RegisterReply, url: string): void
  /** The socket ended; the link connects again. */
  onLost(end: SocketEnd, url: string): void
  onWarning(message: string, url: string): void
}

/** How long a closing runner waits for an absent engine. The engine does not wait longer for a result, either. */
const ENDING_AWAY_MS_MAX = 5_000
/** Maximum time of a handshake, and its maximum when there is another engine to try. */
const HANDSHAKE_MS_MAX = 10_000
const HANDSHAKE_MS_MAX_OF_SEVERAL = 3_000
/** Maximum time from the handshake to the registration. */
const REGISTER_MS_MAX = 10_000
const PROOF = `the header ${DIALLED_HOST_HEADER} of the handshake`
const HELLO_ID = 'hello'
const REGISTER_ID = 'register'
const ENDING_ID = 'ending'
/** Answer to an invoke that arrives while the runner closes: the engine retries it with another runner. */
const ENDING_ANSWER = answerRefusal(503, 'The runner is shutting down')

export class Link implements Outlet {
  readonly #options: LinkOptions
  readonly #stopping = new AbortController()
  /** Each socket of a runner starts with a different engine. */
  readonly #engines: EngineList
  #socket: EngineSocket | undefined
  registered = false
  /** Whether the engine has registered this link before. */
  #wasRegistered = false
  #checkpoints = false
  /** Invokes that were read in this turn of the event loop and have not begun. */
  readonly #unbegun = new Set<string>()
  #ending = false
  /** Connections lost in a row. */
  #failures = 0
  #registerTimer: NodeJS.Timeout | undefined
  #awayTimer: NodeJS.Timeout | undefined
  #ended: Promise<void> = Promise.resolve()

  constructor(options: LinkOptions) {
    this.#options = options
    this.#engines = options.settings.engines.from(options.index)
  }

  start(): void {
    this.#ended = this.#keepConnected()
  }

  /** Sends a frame of a pass. Without a registered socket it is dropped: the link sends it again after it registers. */
  send(frame: string): void {
    if (this.registered) this.#socket?.send(frame)
  }

  /**
   * Ends the link: starts no further pass, lets each pass in flight reach its next durable step, and closes the socket when the
   * engine has acknowledged their results, or after `timeoutMs` at the latest. Resolves when the socket is closed.
   */
  async end(timeoutMs: number): Promise<void> {
    const { passes } = this.#options
    this.#ending = true
    if (this.registered) this.#announceEnd()
    else {
      clearTimeout(this.#awayTimer)
      this.#awayTimer = this.#absenceTimer()
    }
    const deadline = new AbortController()
    const late = delay(timeoutMs, undefined, { signal: deadline.signal }).catch(() => undefined)
    await Promise.race([passes.idle(this), late])
    deadline.abort()
    passes.abandon(this, new Error('The runner is shutting down'))
    this.#stopping.abort()
    clearTimeout(this.#awayTimer)
    this.#socket?.close()
    await this.#ended
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const { url } = this.#engines
      const end = await this.#connection(url)
      clearTimeout(this.#registerTimer)
      this.registered = false
      if (signal.aborted) return
      this.#failures++
      this.#options.onLost(end, url)
      this.#engines.passOver(url)
      // Without a runner id the engine treats the next socket as another runner, so it expects no results of these passes.
      if (this.#isNamed) this.#awayTimer ??= this.#absenceTimer()
      else this.#options.passes.abandon(this, end.error)
      const { retryInitialMs: initialMs } = this.#options.settings
      const { closeCode } = end
      // The delay grows each time every engine has failed once more.
      const failures = Math.ceil(this.#failures / this.#engines.size)
      const ms = reconnectDelayMs({ closeCode, failures, initialMs, random: Math.random() })
      await delay(ms, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Opens a socket. Resolves when the socket has ended. */
  #connection(url: string): Promise<SocketEnd> {
    const { apiKey, signingKeys } = this.#options.settings
    return new Promise(resolve => {
      const socket = new EngineSocket({
        url: `${url.replace(/^http/, 'ws')}/connect`,
        handshakeMsMax: this.#engines.size > 1 ? HANDSHAKE_MS_MAX_OF_SEVERAL : HANDSHAKE_MS_MAX,
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
    const instance = settings.instances[index]
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
        else this.#begin(id, payload)
        break
      case 'result.ack':
        passes.acknowledged(id)
        break
      case 'checkpoint.ack':
        passes.checkpointAcknowledged(id, payload)
        break
      case 'stream.ack':
        passes.appendAcknowledged(id, payload)
        break
      case 'again.ack':
        passes.asks.acknowledged(id)
        break
      case 'invoke.cancel':
        if (!this.#unbegun.delete(id)) passes.cancel(id)
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

  /**
   * Begins a pass after the frames that came with its invoke: while the event loop was blocked, the engine may have sent the pass
   * to another runner and cancelled it here.
   */
  #begin(id: string, payload: unknown): void {
    this.#unbegun.add(id)
    queueMicrotask(() => {
      if (this.#unbegun.delete(id)) this.#options.passes.start(id, payload, this, this.#checkpoints)
    })
  }

  #helloReceived(socket: EngineSocket, payload: unknown): void {
    const features = fieldOf(payload, 'features')
    if (socket.isProvenAsBefore && knows(features, 'signature-v2')) {
      socket.fail(
        untrusted(
          `The engine did not sign for the host that the runner dialled, although it can: something removes ${PROOF}`,
        ),
      )
      return
    }
    const heartbeatMs = fieldOf(payload, 'heartbeatMs')
    const { settings, passes, beats, index } = this.#options
    if (knows(features, 'beats')) beats.start(typeof heartbeatMs === 'number' ? heartbeatMs : CONNECT_HEARTBEAT_MS)
    this.#checkpoints = settings.checkpoints && fieldOf(payload, 'checkpoints') === true
    socket.keepAlive(typeof heartbeatMs === 'number' ? heartbeatMs : 0)
    const maxConcurrency = concurrencyOf(settings, index)
    const underWay = this.#wasRegistered && this.#isNamed ? passes.underWay(this) : undefined
    this.#register(socket, REGISTER_ID, { maxConcurrency, underWay })
  }

  #register(socket: EngineSocket, id: string, terms: Partial<ConnectRegister>) {
    socket.send(frameText('runner.register', id, { ...this.#options.settings.registration, ...terms }))
  }

  /** Asks the engine to send no further invokes, while a pass is in flight. */
  #announceEnd(): void {
    const isIdle = this.#options.passes.underWay(this).length === 0
    if (!this.#socket || isIdle) return
    const maxConcurrency = concurrencyOf(this.#options.settings, this.#options.index)
    this.#register(this.#socket, ENDING_ID, { maxConcurrency, leaving: true })
  }

  #registrationAcknowledged(reply: RegisterReply): void {
    clearTimeout(this.#registerTimer)
    clearTimeout(this.#awayTimer)
    this.#awayTimer = undefined
    this.#failures = 0
    this.#wasRegistered = true
    this.registered = true
    for (const frame of this.#options.passes.unacknowledged(this)) this.send(frame)
    if (this.#ending) this.#announceEnd()
    this.#options.onRegistered(reply, this.#engines.url)
  }

  #errorReceived(socket: EngineSocket, id: string, payload: unknown): void {
    const error = readError(payload)
    socket.keepError(error)
    if (this.registered) this.#options.onWarning(`${error.message} (${error.code})`, this.#engines.url)
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
    const reason = new Error(`The engine has been unreachable for ${timeoutMs} ms`)
    return setTimeout(() => passes.abandon(this, reason), timeoutMs).unref()
  }
}
