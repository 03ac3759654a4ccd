// Keeps one socket of a runner registered: dials, says hello, registers, hands frames to the passes, and begins anew
// whenever the socket ends, for as long as the runner lives.

import { setTimeout as delay } from 'node:timers/promises'
import { type ConnectRegister, PROTOCOL_VERSION, type RegisterReply } from '@perdure/protocol'
import { answerError } from '../replay/answer.ts'
import { pauseMs } from './backoff.ts'
import { away, type Complaint, refusedBy, type SocketEnd } from './failure.ts'
import { fieldOf, frameText, type IncomingFrame, resultText } from './frames.ts'
import { type ConnectSettings, concurrencyOf } from './options.ts'
import type { Outlet, Passes } from './passes.ts'
import { EngineSocket } from './socket.ts'

export interface LinkOptions {
  settings: ConnectSettings
  passes: Passes
  /** Number of this socket among those of the runner. */
  index: number
  onRegistered(reply: RegisterReply): void
  /** The socket ended; it is dialled again. */
  onLost(end: SocketEnd): void
  onWarning(message: string): void
}

/** How long a runner that ends waits for an engine that is away: the engine itself waits no longer for a result. */
const ENDING_AWAY_MS_MAX = 5_000
/** From the handshake to the registration. */
const REGISTER_MS_MAX = 10_000
const HELLO_ID = 'hello'
const REGISTER_ID = 'register'
const ENDING_ID = 'ending'
/** To an invoke that came when the runner was about to go: another try will find another one. */
const ENDING = answerError(503, new Error('The runner ends'))

export class Link implements Outlet {
  readonly #options: LinkOptions
  readonly #stopping = new AbortController()
  #socket: EngineSocket | undefined
  #registered = false
  /** Whether the engine has known this link before. */
  #returning = false
  #engineTakesCheckpoints = false
  #ending = false
  /** In a row. */
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
    this.#ended = this.#keep()
  }

  /** Sends a frame of a pass; while the engine is away it is sent when the socket is back. */
  send(frame: string): void {
    if (this.#registered) this.#socket?.send(frame)
  }

  /**
   * Ends the link: no further pass is started, those in flight finish, and the socket is closed when the engine has
   * acknowledged their results, at the latest after `timeoutMs`. Resolves when it is gone.
   */
  async end(timeoutMs: number): Promise<void> {
    const { passes } = this.#options
    this.#ending = true
    if (this.#registered) this.#askForNoMore()
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

  async #keep(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const end = await this.#connection()
      clearTimeout(this.#registerTimer)
      this.#registered = false
      if (signal.aborted) return
      this.#failures++
      this.#options.onLost(end)
      // Without a name the engine takes the next socket for another runner's: nobody waits for these results.
      if (this.#isNamed) this.#awayTimer ??= this.#absenceTimer()
      else this.#options.passes.abandon(this, end.error)
      const { retryInitialMs: initialMs } = this.#options.settings
      const { closeCode } = end
      const ms = pauseMs({ closeCode, failures: this.#failures, initialMs, random: Math.random() })
      await delay(ms, undefined, { signal }).catch(() => undefined)
    }
  }

  /** One socket, from dialling to its end. */
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
      () => socket.fail(away(`The engine did not register the runner within ${REGISTER_MS_MAX} ms`)),
      REGISTER_MS_MAX,
    )
  }

  #frame(socket: EngineSocket, { type, id, payload }: IncomingFrame): void {
    const { passes } = this.#options
    switch (type) {
      case 'invoke':
        if (this.#ending) socket.send(resultText(id, ENDING))
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
        this.#greeted(socket, payload)
        break
      case 'runner.registered':
        if (id === REGISTER_ID) this.#nowRegistered(payload as RegisterReply)
        break
      case 'error':
        this.#complained(socket, id, payload)
        break
    }
  }

  #greeted(socket: EngineSocket, payload: unknown): void {
    const heartbeatMs = fieldOf(payload, 'heartbeatMs')
    this.#engineTakesCheckpoints = fieldOf(payload, 'checkpoints') === true
    socket.keepAlive(typeof heartbeatMs === 'number' ? heartbeatMs : 0)
    const { settings, passes, index } = this.#options
    const maxConcurrency = concurrencyOf(settings, index)
    const underWay = this.#returning && this.#isNamed ? passes.underWay(this) : undefined
    this.#register(socket, REGISTER_ID, { maxConcurrency, underWay })
  }

  #register(socket: EngineSocket, id: string, terms: Pick<ConnectRegister, 'maxConcurrency' | 'underWay'>) {
    socket.send(frameText('runner.register', id, { ...this.#options.settings.registration, ...terms }))
  }

  /** The engine gives a runner no further invoke while it has the most that it takes: one, and that is in flight. */
  #askForNoMore(): void {
    const isIdle = this.#options.passes.underWay(this).length === 0
    if (this.#socket && !isIdle) this.#register(this.#socket, ENDING_ID, { maxConcurrency: 1 })
  }

  #nowRegistered(reply: RegisterReply): void {
    clearTimeout(this.#registerTimer)
    clearTimeout(this.#awayTimer)
    this.#awayTimer = undefined
    this.#failures = 0
    this.#returning = true
    this.#registered = true
    for (const frame of this.#options.passes.unacknowledged(this)) this.send(frame)
    if (this.#ending) this.#askForNoMore()
    this.#options.onRegistered(reply)
  }

  #complained(socket: EngineSocket, id: string, payload: unknown): void {
    const complaint: Complaint = {
      code: String(fieldOf(payload, 'code') ?? 'internal'),
      message: String(fieldOf(payload, 'message') ?? 'The engine gave no reason'),
    }
    socket.complain(complaint)
    if (this.#registered) this.#options.onWarning(`${complaint.message} (${complaint.code})`)
    else if (id === REGISTER_ID) socket.fail(refusedBy(complaint))
  }

  get #isNamed(): boolean {
    return this.#options.settings.registration.runner !== undefined
  }

  get #checkpoints(): boolean {
    return this.#engineTakesCheckpoints && this.#options.settings.checkpoints
  }

  /** Passes whose engine stays away work for nobody: after a while they end. */
  #absenceTimer(): NodeJS.Timeout {
    const { settings, passes } = this.#options
    const { awayTimeoutMs } = settings
    const timeoutMs = this.#ending ? Math.min(ENDING_AWAY_MS_MAX, awayTimeoutMs) : awayTimeoutMs
    const reason = new Error(`The engine has been away for ${timeoutMs} ms`)
    return setTimeout(() => passes.abandon(this, reason), timeoutMs).unref()
  }
}
