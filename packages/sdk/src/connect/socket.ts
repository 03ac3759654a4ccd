// One WebSocket to the engine: the handshake, liveness, and frames as text. It handles only heartbeat frames and passes all other
// frames to its link.

import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import {
  CONNECT_HEARTBEAT_MS,
  CONNECT_SILENCE_MS,
  CONNECT_SUBPROTOCOL,
  connectionRemedy,
  DIALLED_HOST_HEADER,
  recipientOf,
  SIGNATURE_HEADER,
  verifyBody,
  verifyFor,
} from '@perdure/protocol'
import { WebSocket } from 'ws'
import { REQUEST_BYTES_MAX } from '../wire/limits.ts'
import {
  closedByEngine,
  type EngineError,
  handshakeRefused,
  readError,
  type SocketEnd,
  unreachable,
  untrusted,
} from './failure.ts'
import { frameText, type IncomingFrame, readFrame } from './frames.ts'

interface SocketOptions {
  url: string
  handshakeMsMax: number
  apiKey: string | undefined
  signingKeys: readonly string[]
  onOpen(): void
  onFrame(frame: IncomingFrame): void
  /** Called once, even if the socket never opened. */
  onEnd(end: SocketEnd): void
}

/** Maximum size and time of an answer that refuses the handshake. */
const REFUSAL_CHARS_MAX = 16_384
const REFUSAL_MS_MAX = 1_000
/** The engine counts as gone when it is silent for this many ticks. A heartbeat interval has two ticks. */
const SILENT_TICKS_MAX = CONNECT_SILENCE_MS / (CONNECT_HEARTBEAT_MS / 2)
/**
 * Above this number of bytes that the engine has not read, further frames wait here. Otherwise the runner's heartbeats would come
 * too late, behind all those frames.
 */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024
/** An engine that signs nothing refuses the key and gives its reason within this time. */
const REASON_MS_MAX = 1_000
/** Maximum time of the closing handshake before the socket is terminated. */
const CLOSE_MS_MAX = 1_000

export class EngineSocket {
  readonly #socket: WebSocket
  readonly #options: SocketOptions
  readonly #host: string
  #requestKey = ''
  #signature: string | undefined
  /** Whether the engine proved itself the way an earlier version does: for any host and any purpose. */
  isProvenAsBefore = false
  /** The TCP socket, for writing the frames of one turn of the event loop together. */
  #tcpSocket: Socket | undefined
  #corked = false
  /** Frames that wait until the engine has read the earlier ones, in order. */
  #waiting: string[] = []
  #end: SocketEnd | undefined
  #lastError: EngineError | undefined
  #ended = false
  #heartbeatTimer: NodeJS.Timeout | undefined
  #closeTimer: NodeJS.Timeout | undefined
  #reasonTimer: NodeJS.Timeout | undefined
  #sentSinceTick = false
  #silentTicks = 0

  /** Connects. The callbacks report the result. */
  constructor(options: SocketOptions) {
    this.#options = options
    const { apiKey, url } = options
    this.#host = new URL(url).host
    const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
    this.#socket = new WebSocket(url, CONNECT_SUBPROTOCOL, {
      headers: { ...key, [DIALLED_HOST_HEADER]: this.#host },
      handshakeTimeout: options.handshakeMsMax,
      maxPayload: REQUEST_BYTES_MAX,
      perMessageDeflate: false,
      followRedirects: false,
      finishRequest: (request: ClientRequest) => {
        this.#requestKey = String(request.getHeader('sec-websocket-key') ?? '')
        request.end()
      },
    })
    this.#listen()
  }

  /** Sends a frame together with all others of this turn of the event loop; if there are many unread ones, after those. */
  send(frame: string): void {
    if (this.#waiting.length > 0 || this.#socket.bufferedAmount > UNREAD_BYTES_MAX) this.#waiting.push(frame)
    else this.#write(frame)
  }

  #sendWaiting(): void {
    let sent = 0
    for (const frame of this.#waiting) {
      if (this.#socket.bufferedAmount > UNREAD_BYTES_MAX) break
      this.#write(frame)
      sent++
    }
    this.#waiting = this.#waiting.slice(sent)
  }

  #write(frame: string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    this.#sentSinceTick = true
    if (this.#tcpSocket && !this.#corked) {
      const tcpSocket = this.#tcpSocket
      this.#corked = true
      tcpSocket.cork()
      setImmediate(() => {
        this.#corked = false
        tcpSocket.uncork()
      })
    }
    if (this.#tcpSocket) this.#socket.send(frame)
    // Some runtimes do not expose the TCP socket, which would signal that all is sent.
    else this.#socket.send(frame, () => this.#sendWaiting())
  }

  /** Sends a frame at least this often after this call, and expects the same of the engine. */
  keepAlive(heartbeatMs: number): void {
    const everyMs = heartbeatMs > 0 ? heartbeatMs : CONNECT_HEARTBEAT_MS
    clearInterval(this.#heartbeatTimer)
    this.#heartbeatTimer = setInterval(() => this.#tick(), everyMs / 2)
  }

  /** Keeps an error of the engine, to use as the reason if the engine closes the socket next. */
  keepError(error: EngineError): void {
    this.#lastError = error
  }

  /** Starts the closing handshake. If the engine does not answer it, the socket is terminated. */
  close(): void {
    this.#socket.close(1000, 'the runner is shutting down')
    this.#closeTimer ??= setTimeout(() => this.#socket.terminate(), CLOSE_MS_MAX)
  }

  /** Terminates the socket for a reason on the runner's side. */
  fail(end: SocketEnd): void {
    this.#end ??= end
    this.#socket.terminate()
  }

  #listen(): void {
    const socket = this.#socket
    const { onOpen, onFrame } = this.#options
    socket.on('upgrade', response => {
      this.#tcpSocket = response.socket
      response.socket.on('drain', () => this.#sendWaiting())
      const header = response.headers[SIGNATURE_HEADER]
      this.#signature = typeof header === 'string' ? header : undefined
    })
    socket.on('unexpected-response', (_request: ClientRequest, response: IncomingMessage) => {
      const { statusCode: status = 0 } = response
      readHead(response, body => this.fail(handshakeRefused({ url: this.#options.url, status, body })))
    })
    socket.on('open', () => {
      if (this.#trusts()) onOpen()
      else if (this.#signature === undefined) this.#reasonTimer = setTimeout(() => this.#distrust(), REASON_MS_MAX)
      else this.#distrust()
    })
    socket.on('message', (data, isBinary) => {
      if (this.#end) return
      this.#silentTicks = 0
      const frame = isBinary ? undefined : readFrame(String(data))
      if (this.#reasonTimer) this.#readReason(frame)
      else if (frame === undefined) this.fail(unreachable('The engine sent an invalid frame'))
      else if (frame.type === 'heartbeat') this.#write(frameText('heartbeat.ack', frame.id))
      else onFrame(frame)
    })
    socket.on('ping', () => {
      this.#silentTicks = 0
    })
    socket.on('error', (cause: NodeJS.ErrnoException) => {
      // When connections to several addresses fail, the error has no message.
      const reason = cause.message || cause.code || cause.name
      const problem = `${reason}${connectionRemedy(cause.code)}`
      this.#end ??= unreachable(`The engine cannot be reached at ${this.#options.url}: ${problem}`, { cause })
    })
    socket.on('close', (code, reason) => this.#finish(code, String(reason)))
  }

  /** Whether the engine signed its handshake response with one of the runner's keys. If not, nothing is sent to it. */
  #trusts(): boolean {
    const { signingKeys: keys } = this.#options
    if (keys.length === 0) return true
    if (this.#requestKey === '') return false
    const signed = { keys, body: this.#requestKey, nowMs: Date.now(), header: this.#signature }
    if (verifyFor({ ...signed, purpose: 'connect' }) === recipientOf(this.#host)) return true
    this.isProvenAsBefore = verifyBody(signed)
    return this.isProvenAsBefore
  }

  #distrust(): void {
    const message =
      'The engine did not sign its answer with the signing key of this runner (ENGINE_SIGNING_KEY on both sides)'
    this.fail(untrusted(message))
  }

  /** An engine signs nothing for a caller that it refuses. From such an engine, read only the reason. */
  #readReason(frame: IncomingFrame | undefined): void {
    if (frame?.type === 'error') this.keepError(readError(frame.payload))
  }

  /** Counts ticks instead of time: after a pause of the whole process, received frames are read before the next tick. */
  #tick(): void {
    if (!this.#sentSinceTick) this.#write(frameText('heartbeat', ''))
    this.#sentSinceTick = false
    if (++this.#silentTicks >= SILENT_TICKS_MAX) this.fail(unreachable('The engine is silent'))
  }

  #finish(code: number, reason: string): void {
    if (this.#ended) return
    this.#ended = true
    clearInterval(this.#heartbeatTimer)
    clearTimeout(this.#closeTimer)
    clearTimeout(this.#reasonTimer)
    this.#options.onEnd(this.#end ?? closedByEngine(code, reason, this.#lastError))
  }
}

/** Reads the beginning of an answer: all of it, or what arrived in time. */
function readHead(response: IncomingMessage, then: (body: string) => void): void {
  let body = ''
  const timer = setTimeout(() => response.destroy(), REFUSAL_MS_MAX)
  response.setEncoding('utf8')
  response.on('data', chunk => {
    body += chunk
    if (body.length > REFUSAL_CHARS_MAX) response.destroy()
  })
  response.on('error', () => undefined)
  response.once('close', () => {
    clearTimeout(timer)
    then(body)
  })
}
