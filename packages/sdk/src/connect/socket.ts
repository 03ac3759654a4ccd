// One WebSocket to the engine: its handshake, its liveness, and frames as text. It knows nothing of what they say
// but the heartbeat; the link above it does.

import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { CONNECT_HEARTBEAT_MS, CONNECT_SUBPROTOCOL, SIGNATURE_HEADER, verifyBody } from '@perdure/protocol'
import { WebSocket } from 'ws'
import { REQUEST_BYTES_MAX } from '../limits.ts'
import { answeredWith, away, type Complaint, closedWith, type SocketEnd, untrusted } from './failure.ts'
import { frameText, type IncomingFrame, readFrame } from './frames.ts'

export interface SocketOptions {
  url: string
  apiKey: string | undefined
  signingKeys: readonly string[]
  onOpen(): void
  onFrame(frame: IncomingFrame): void
  /** Called once, also when it never opened. */
  onEnd(end: SocketEnd): void
}

const HANDSHAKE_MS_MAX = 10_000
/** A peer that says nothing for so many half heartbeats is gone: 30 s with the engine's 10 s. */
const SILENT_TICKS_MAX = 6
/** How much the engine may leave unread. */
const UNREAD_BYTES_MAX = 64 * 1024 * 1024
/** How long a closing handshake may take before the socket is cut. */
const CLOSE_MS_MAX = 1_000

export class EngineSocket {
  readonly #socket: WebSocket
  readonly #options: SocketOptions
  #requestKey = ''
  #signature: string | undefined
  /** The socket below, to write the frames of one turn of the event loop together. */
  #wire: Socket | undefined
  #corked = false
  #end: SocketEnd | undefined
  #complaint: Complaint | undefined
  #ended = false
  #beat: NodeJS.Timeout | undefined
  #closeTimer: NodeJS.Timeout | undefined
  #sentSinceTick = false
  #silentTicks = 0

  /** Dials. What comes of it is told by the callbacks. */
  constructor(options: SocketOptions) {
    this.#options = options
    const { apiKey } = options
    this.#socket = new WebSocket(options.url, CONNECT_SUBPROTOCOL, {
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      handshakeTimeout: HANDSHAKE_MS_MAX,
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

  /** Sends a frame, with all others of this turn of the event loop. */
  send(frame: string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    this.#sentSinceTick = true
    if (this.#wire && !this.#corked) {
      const wire = this.#wire
      this.#corked = true
      wire.cork()
      setImmediate(() => {
        this.#corked = false
        wire.uncork()
      })
    }
    this.#socket.send(frame)
    if (this.#socket.bufferedAmount > UNREAD_BYTES_MAX) {
      this.fail(away(`The engine leaves more than ${UNREAD_BYTES_MAX} bytes unread`))
    }
  }

  /** From now on says that it lives at least this often, and expects the same of the engine. */
  keepAlive(heartbeatMs: number): void {
    const everyMs = heartbeatMs > 0 ? heartbeatMs : CONNECT_HEARTBEAT_MS
    clearInterval(this.#beat)
    this.#beat = setInterval(() => this.#tick(), everyMs / 2)
  }

  /** Keeps what the engine complained of, as the reason of the end that follows. */
  complain(complaint: Complaint): void {
    this.#complaint = complaint
  }

  /** Says goodbye; the socket is cut when the engine does not answer that. */
  close(): void {
    this.#socket.close(1000, 'the runner ends')
    this.#closeTimer ??= setTimeout(() => this.#socket.terminate(), CLOSE_MS_MAX)
  }

  /** Cuts the socket, for a reason of this side. */
  fail(end: SocketEnd): void {
    this.#end ??= end
    this.#socket.terminate()
  }

  #listen(): void {
    const socket = this.#socket
    const { onOpen, onFrame } = this.#options
    socket.on('upgrade', response => this.#upgraded(response))
    socket.on('unexpected-response', (_request: ClientRequest, response: IncomingMessage) => {
      response.resume()
      this.fail(answeredWith(response.statusCode ?? 0))
    })
    socket.on('open', () => {
      if (this.#trusts()) onOpen()
    })
    socket.on('message', (data, isBinary) => {
      if (this.#end) return
      this.#silentTicks = 0
      const frame = isBinary ? undefined : readFrame(String(data))
      if (frame === undefined) this.fail(away('The engine sent a frame that is none'))
      else if (frame.type === 'heartbeat') this.send(frameText('heartbeat.ack', frame.id))
      else onFrame(frame)
    })
    socket.on('ping', () => {
      this.#silentTicks = 0
    })
    socket.on('error', error => {
      this.#end ??= away(`The engine cannot be reached at ${this.#options.url}: ${messageOf(error)}`, {
        cause: error,
      })
    })
    socket.on('close', (code, reason) => this.#finish(code, String(reason)))
  }

  #upgraded(response: IncomingMessage): void {
    this.#wire = response.socket
    this.#signature = String(response.headers[SIGNATURE_HEADER] ?? '')
  }

  /** Whether the answer to the handshake was signed with a key of ours: an engine that is not ours gets nothing. */
  #trusts(): boolean {
    const { signingKeys } = this.#options
    if (signingKeys.length === 0) return true
    const signed = { keys: signingKeys, body: this.#requestKey, nowMs: Date.now(), header: this.#signature }
    if (this.#requestKey !== '' && verifyBody(signed)) return true
    const message =
      'The engine did not sign its answer with the signing key of this runner (ENGINE_SIGNING_KEY on both sides)'
    this.fail(untrusted(message))
    return false
  }

  /** Counts turns instead of time: a process that stood still hears what has come before it judges. */
  #tick(): void {
    if (!this.#sentSinceTick) this.send(frameText('heartbeat', ''))
    this.#sentSinceTick = false
    if (++this.#silentTicks >= SILENT_TICKS_MAX) this.fail(away('The engine is silent'))
  }

  #finish(code: number, reason: string): void {
    if (this.#ended) return
    this.#ended = true
    clearInterval(this.#beat)
    clearTimeout(this.#closeTimer)
    this.#options.onEnd(this.#end ?? closedWith(code, reason, this.#complaint))
  }
}

/** Attempts on several addresses fail as one error without a message of its own. */
function messageOf(error: Error & { code?: string }): string {
  return error.message || error.code || error.name
}
