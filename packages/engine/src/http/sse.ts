// One server-sent event stream over one response: framing, keep-alive, backpressure, and an end that leaves no
// listener behind. Opened by routes/run-stream.ts.

import type { FastifyReply } from 'fastify'
import type { Clock } from '../ports/clock.ts'
import type { HttpContext } from './context.ts'

/** Decisions, "Events": how long a client waits before it reconnects. */
const OPENING = 'retry: 2000\n\n'
const KEEP_ALIVE = ': keep-alive\n\n'

/** One message. JSON text has no line breaks of its own, so one `data:` line holds it. */
export function sseMessage(message: { id?: number; event: string; data: unknown }): string {
  const id = message.id === undefined ? '' : `id: ${message.id}\n`
  return `${id}event: ${message.event}\ndata: ${JSON.stringify(message.data)}\n\n`
}

export class SseStream {
  /** False once the client has gone, the app is closing, or `end` was called. */
  open = true
  readonly #response: FastifyReply['raw']
  readonly #clock: Clock
  readonly #stallMs: number
  readonly #onEnd: () => void
  readonly #leaveDrain: () => void
  #stalled = false

  /** Takes the reply over and sends the headers. `onEnd` is called once, when the stream is no longer open. */
  constructor(reply: FastifyReply, { deps, limits, drain }: HttpContext, onEnd: () => void) {
    reply.hijack()
    this.#response = reply.raw
    this.#clock = deps.clock
    this.#stallMs = limits.stallMs
    this.#onEnd = onEnd
    this.#leaveDrain = drain.onStart(() => this.end())
    this.#response.on('close', this.#closed)
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': reply.request.id,
    })
    this.#response.write(OPENING)
    // The client may have left, or the drain begun, before there was a listener to tell.
    if (this.#response.destroyed) this.#closed()
    else if (drain.started) this.end()
  }

  keepAlive(): Promise<void> {
    return this.write(KEEP_ALIVE)
  }

  /** Writes, and waits until there is room for more. A client that makes no room in time is dropped. */
  async write(text: string): Promise<void> {
    if (!this.open || this.#response.write(text)) return
    this.#stalled = true
    await this.#drained()
    this.#stalled = false
  }

  /** Ends the stream in order: what was written still reaches a client that reads. */
  end(): void {
    if (!this.open) return
    this.#close()
    if (this.#stalled) {
      this.#response.destroy()
      return
    }
    const cancel = this.#clock.at(this.#clock.now() + this.#stallMs, () => this.#response.destroy())
    this.#response.on('finish', cancel).on('close', cancel)
    this.#response.end()
  }

  /** Breaks the stream off, so that the client knows it was no regular end and comes back. */
  abort(): void {
    this.#response.destroy()
    this.#close()
  }

  #drained(): Promise<void> {
    return new Promise(resolve => {
      const settle = (): void => {
        cancel()
        this.#response.off('drain', settle).off('close', settle)
        resolve()
      }
      const cancel = this.#clock.at(this.#clock.now() + this.#stallMs, () => this.abort())
      this.#response.on('drain', settle).on('close', settle)
    })
  }

  readonly #closed = (): void => this.#close()

  #close(): void {
    if (!this.open) return
    this.open = false
    this.#leaveDrain()
    this.#response.off('close', this.#closed)
    this.#onEnd()
  }
}
