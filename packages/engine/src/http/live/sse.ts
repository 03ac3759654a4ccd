// One stream of server-sent events over one response: framing, keep-alive, back-pressure, and an end that leaves no
// listener behind. Opened by routes/run/run-stream.ts and routes/event/namespace-streams.ts.

import type { OutgoingHttpHeaders } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../ports/clock.ts'
import type { Actor } from '../../services/commit/audit.ts'
import type { HttpContext } from '../access/context.ts'
import type { HttpDeps } from '../access/deps.ts'
import type { HttpLimits } from '../request/limits.ts'

/** `retry` is the time in ms after which a client reconnects (docs/concepts.md#timeline-and-streams). */
const OPENING = 'retry: 2000\n\n'
const KEEP_ALIVE = Buffer.from(': keep-alive\n\n')

/** Writes one message. `data` is JSON without line breaks, so that it fits into one `data:` line. */
export function sseMessage(message: { id?: number; event: string; data: string }): string {
  const id = message.id === undefined ? '' : `id: ${message.id}\n`
  return `${id}event: ${message.event}\ndata: ${message.data}\n\n`
}

/** The chunk of each message, kept as long as the message. */
const CHUNKS = new WeakMap<Buffer, Buffer>()

/** The message as a chunk of an HTTP/1.1 body, made once for all streams that send it. */
function chunkOf(message: Buffer): Buffer {
  const made = CHUNKS.get(message)
  if (made) return made
  const chunk = Buffer.concat([Buffer.from(`${message.length.toString(16)}\r\n`), message, Buffer.from('\r\n')])
  CHUNKS.set(message, chunk)
  return chunk
}

export interface SseOptions {
  /** The caller; the number of its open streams is bounded. */
  actor: Actor
  /** Whether the stream's request would still be authorized; else the stream ends. Called when keys or namespaces have changed. */
  isAuthorized(): boolean
  /** Called once, when the stream closes. */
  onEnd(): void
}

/** The part of the HTTP context that a stream uses. */
type SseContext = Pick<HttpContext, 'limits' | 'drain' | 'streams'> & { deps: Pick<HttpDeps, 'clock' | 'keys'> }

export class SseStream {
  /** False after the client disconnected, the app has started to close, the key or token has ended, or `end` was called. */
  open = true
  readonly #response: FastifyReply['raw']
  readonly #clock: Clock
  readonly #limits: HttpLimits
  readonly #onEnd: () => void
  readonly #leaveDrain: () => void
  readonly #leaveKeys: () => void
  readonly #leaveCount: () => void
  /** Cancels the timer that ends the stream with the run token of its request. */
  #cancelExpiry = (): void => {}
  #stopKeepAlive = (): void => {}
  /** Present while the client has not read what was written. */
  #drain: Promise<void> | undefined
  /** Messages sent since the client stalled. */
  #unread = 0

  /** Takes over the reply and sends the headers. Throws before that if the caller may not open another stream. */
  constructor(reply: FastifyReply, context: SseContext, { actor, isAuthorized, onEnd }: SseOptions) {
    const { deps, limits, drain, streams } = context
    this.#leaveCount = streams.enter(actor)
    reply.hijack()
    this.#response = reply.raw
    this.#clock = deps.clock
    this.#limits = limits
    this.#onEnd = onEnd
    this.#leaveDrain = drain.onStart(() => this.end())
    this.#leaveKeys = deps.keys.onChange(() => {
      if (!isAuthorized()) this.end()
    })
    const { expiresAt } = actor.runToken ?? {}
    if (expiresAt !== undefined) this.#cancelExpiry = deps.clock.at(expiresAt, () => this.end())
    this.#response.on('close', this.#closed)
    this.#response.writeHead(200, {
      // The hooks have set the request id and the CORS headers.
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    this.#response.write(OPENING)
    this.#keepAliveLater()
    // The client may have left, the drain started or the key been revoked before the listeners were added.
    if (this.#response.destroyed) this.#closed()
    else if (drain.started || !isAuthorized()) this.end()
  }

  /** Writes, and waits until there is room for more. A client that does not read in time is dropped. */
  async write(bytes: Buffer): Promise<void> {
    // An empty chunk would end the body.
    if (!this.open || bytes.length === 0 || this.#put(bytes)) return
    if (!this.#drain) {
      this.#unread = 0
      this.#drain = this.#drained().finally(() => {
        this.#drain = undefined
      })
    }
    await this.#drain
  }

  /** Whether the client has not read what was written. */
  get isStalled(): boolean {
    return this.#drain !== undefined
  }

  /** Resolves when the client has read what was written, or was dropped because it did not. */
  async whenRead(): Promise<void> {
    await this.#drain
  }

  /**
   * Sends without waiting. A client that has stopped reading is dropped when a bound of unread messages is reached. The bytes are
   * kept, not copied: pass the same buffer for every client.
   */
  offer(bytes: Buffer): void {
    if (!this.open) return
    if (!this.#drain) void this.write(bytes)
    else if (this.#hasRoomFor(bytes)) this.#put(bytes)
    else this.abort()
  }

  /** Ends the stream in order: a client that reads still gets everything written. */
  end(): void {
    if (!this.open) return
    this.#close()
    if (this.#drain) {
      this.#response.destroy()
      return
    }
    const cancel = this.#afterStall(() => this.#response.destroy())
    this.#response.on('finish', cancel).on('close', cancel)
    this.#response.end()
  }

  /** Breaks the stream off, so that the client sees an irregular end and reconnects. */
  abort(): void {
    this.#response.destroy()
    this.#close()
  }

  /**
   * Writes the message; returns false if the client must read first. `response.write` would wrap the chunk again for each stream,
   * in four writes that are joined in the next tick, and would report every message of 16 KiB as unread until then: 17 us of CPU
   * instead of 11.
   */
  #put(bytes: Buffer): boolean {
    const socket = this.#socket
    // A client of HTTP/1.0 gets no chunks.
    return socket && this.#response.chunkedEncoding ? socket.write(chunkOf(bytes)) : this.#response.write(bytes)
  }

  /** Undefined while the client waits for the answer to an earlier request, and for an injected request. */
  get #socket(): Socket | undefined {
    const { socket } = this.#response
    return socket instanceof Socket ? socket : undefined
  }

  #hasRoomFor(bytes: Buffer): boolean {
    const { unreadFrames, unreadBytes } = this.#limits
    return ++this.#unread <= unreadFrames && this.#response.writableLength + bytes.length <= unreadBytes
  }

  #drained(): Promise<void> {
    // The response does not know what was written to its socket.
    const writable = this.#socket ?? this.#response
    return new Promise(resolve => {
      const settle = (): void => {
        cancel()
        writable.off('drain', settle)
        this.#response.off('close', settle)
        resolve()
      }
      const cancel = this.#afterStall(() => this.abort())
      writable.on('drain', settle)
      this.#response.on('close', settle)
    })
  }

  /** Calls `drop` after the time that a client has to read, unless the returned function is called before. */
  #afterStall(drop: () => void): () => void {
    return this.#clock.after(this.#limits.stallMs, drop)
  }

  /** Sends comments, so that proxies do not cut a quiet stream. A client that does not read gets none. */
  #keepAliveLater(): void {
    this.#stopKeepAlive = this.#clock.after(this.#limits.heartbeatMs, () => {
      if (!this.#drain) this.offer(KEEP_ALIVE)
      if (this.open) this.#keepAliveLater()
    })
  }

  readonly #closed = (): void => this.#close()

  #close(): void {
    if (!this.open) return
    this.open = false
    this.#stopKeepAlive()
    this.#leaveDrain()
    this.#leaveKeys()
    this.#leaveCount()
    this.#cancelExpiry()
    this.#response.off('close', this.#closed)
    this.#onEnd()
  }
}
