// One server-sent event stream over one response: framing, keep-alive, backpressure, and an end that leaves no
// listener behind. Opened by routes/run-stream.ts and routes/namespace-streams.ts.

import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Clock } from '../../ports/clock.ts'
import type { HttpContext } from '../access/context.ts'
import type { HttpDeps } from '../access/deps.ts'
import type { HttpLimits } from '../request/limits.ts'

/** Decisions, "Events": how long a client waits before it reconnects. */
const OPENING = 'retry: 2000\n\n'
const KEEP_ALIVE = Buffer.from(': keep-alive\n\n')

/** One message. `data` is JSON text without line breaks, so that one `data:` line holds it. */
export function sseMessage(message: { id?: number; event: string; data: string }): string {
  const id = message.id === undefined ? '' : `id: ${message.id}\n`
  return `${id}event: ${message.event}\ndata: ${message.data}\n\n`
}

export interface SseOptions {
  /** Whether its request would still be let in: the stream ends when it would not. Asked when keys have changed. */
  isAdmitted(): boolean
  /** Called once, when the stream is no longer open. */
  onEnd(): void
}

/** The part of the HTTP context that a stream uses. */
type SseContext = Pick<HttpContext, 'limits' | 'drain'> & { deps: Pick<HttpDeps, 'clock' | 'keys'> }

export class SseStream {
  /** False once the client has gone, the app is closing, its key counts no more, or `end` was called. */
  open = true
  readonly #response: FastifyReply['raw']
  readonly #clock: Clock
  readonly #limits: HttpLimits
  readonly #onEnd: () => void
  readonly #leaveDrain: () => void
  readonly #leaveKeys: () => void
  #stopBeat = (): void => {}
  #stalled = false
  /** Messages sent since the client stalled. */
  #unread = 0

  /** Takes the reply over and sends the headers. */
  constructor(reply: FastifyReply, { deps, limits, drain }: SseContext, { isAdmitted, onEnd }: SseOptions) {
    reply.hijack()
    this.#response = reply.raw
    this.#clock = deps.clock
    this.#limits = limits
    this.#onEnd = onEnd
    this.#leaveDrain = drain.onStart(() => this.end())
    this.#leaveKeys = deps.keys.onChange(() => {
      if (!isAdmitted()) this.end()
    })
    this.#response.on('close', this.#closed)
    this.#response.writeHead(200, {
      // What the hooks have set: the request id, and which pages may read the stream.
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    this.#response.write(OPENING)
    this.#beatLater()
    // The client may have left, the drain begun, or the key gone, before there was a listener to tell.
    if (this.#response.destroyed) this.#closed()
    else if (drain.started || !isAdmitted()) this.end()
  }

  /** Writes, and waits until there is room for more. A client that makes no room in time is dropped. */
  async write(text: string | Buffer): Promise<void> {
    if (!this.open || this.#response.write(text)) return
    this.#stalled = true
    this.#unread = 0
    await this.#drained()
    this.#stalled = false
  }

  /**
   * Sends without waiting. A client that has stopped reading is given more only up to a bound, and then dropped. The
   * bytes are kept, not copied: send the same ones to every client.
   */
  offer(bytes: Buffer): void {
    if (!this.open) return
    if (!this.#stalled) void this.write(bytes)
    else if (this.#hasRoomFor(bytes)) this.#response.write(bytes)
    else this.abort()
  }

  /** Ends the stream in order: what was written still reaches a client that reads. */
  end(): void {
    if (!this.open) return
    this.#close()
    if (this.#stalled) {
      this.#response.destroy()
      return
    }
    const cancel = this.#inTime(() => this.#response.destroy())
    this.#response.on('finish', cancel).on('close', cancel)
    this.#response.end()
  }

  /** Breaks the stream off, so that the client knows it was no regular end and comes back. */
  abort(): void {
    this.#response.destroy()
    this.#close()
  }

  #hasRoomFor(bytes: Buffer): boolean {
    const { unreadFrames, unreadBytes } = this.#limits
    return ++this.#unread <= unreadFrames && this.#response.writableLength + bytes.length <= unreadBytes
  }

  #drained(): Promise<void> {
    return new Promise(resolve => {
      const settle = (): void => {
        cancel()
        this.#response.off('drain', settle).off('close', settle)
        resolve()
      }
      const cancel = this.#inTime(() => this.abort())
      this.#response.on('drain', settle).on('close', settle)
    })
  }

  /** Calls `drop` unless it is taken back within the time that a client has to read. */
  #inTime(drop: () => void): () => void {
    return this.#clock.at(this.#clock.now() + this.#limits.stallMs, drop)
  }

  /** Comments keep proxies from taking a quiet stream for a dead one. A client that does not read needs none. */
  #beatLater(): void {
    this.#stopBeat = this.#clock.at(this.#clock.now() + this.#limits.heartbeatMs, () => {
      if (!this.#stalled) this.offer(KEEP_ALIVE)
      if (this.open) this.#beatLater()
    })
  }

  readonly #closed = (): void => this.#close()

  #close(): void {
    if (!this.open) return
    this.open = false
    this.#stopBeat()
    this.#leaveDrain()
    this.#leaveKeys()
    this.#response.off('close', this.#closed)
    this.#onEnd()
  }
}
