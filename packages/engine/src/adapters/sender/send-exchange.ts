// One webhook POST: the handler that undici calls back, which turns every outcome into one SendReply. Opened by
// http-sender.ts.

import type { Dispatcher } from 'undici'
import type { Clock } from '../../ports/clock.ts'
import type { SendReply } from '../../ports/sender.ts'
import { startDeadline } from '../transport/deadline.ts'
import { CALL_OVER, describeFailure, errorCode } from '../transport/failure.ts'
import type { CallEvents } from '../transport/http-calls.ts'
import { AddressRefusedError } from './guarded-connect.ts'
import { parseRetryAfterMs } from './retry-after.ts'

/** Most bytes of an answer that are kept. */
const SNIPPET_BYTES_MAX = 4096
/** Most bytes of an answer that are read. Up to this limit the rest is read too, so that the connection can be used again. */
const READ_BYTES_MAX = 65_536

/** Error codes when connecting took too long. */
const TIMEOUT_CODES = ['UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT']

/**
 * The status decides the attempt: once it has arrived, a body that is cut, reset or endless only shortens the snippet. A receiver
 * that answered 200 must not get the delivery again.
 */
export class SendExchange implements Dispatcher.DispatchHandler {
  readonly #timeoutMs: number
  readonly #clock: Clock
  readonly #events: CallEvents<SendReply>
  readonly #startedAt: number
  readonly #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  #answer: { status: number; retryAfterMs?: number } | undefined
  #chunks: Buffer[] = []
  #bytes = 0
  #isOver = false

  constructor(timeoutMs: number, clock: Clock, events: CallEvents<SendReply>) {
    this.#timeoutMs = timeoutMs
    this.#clock = clock
    this.#events = events
    this.#startedAt = clock.elapsed()
    this.#timer = startDeadline(this, timeoutMs)
  }

  /** Called when the deadline has passed. */
  expire(): void {
    const error = `no answer within ${this.#timeoutMs} ms`
    this.#end(durationMs => ({ kind: 'timeout', error, durationMs }))
  }

  /** Ends the call: with the status if it has arrived, else as a connection error. */
  fail(message: string): void {
    this.#end(durationMs => ({ kind: 'connectionError', error: message, durationMs }))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throwing drops the call and keeps the socket; `abort` would destroy the socket.
    if (this.#isOver) throw CALL_OVER
    this.#controller = controller
    this.#events.onWaitOver()
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    const retryAfterMs = parseRetryAfterMs([headers['retry-after']].flat()[0], this.#clock.now())
    this.#answer = retryAfterMs === undefined ? { status } : { status, retryAfterMs }
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytes < SNIPPET_BYTES_MAX) this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes > READ_BYTES_MAX) this.fail(`the response is larger than ${READ_BYTES_MAX} bytes`)
  }

  onResponseEnd(): void {
    // The status has arrived before this, so the message is never used.
    this.fail('an answer without a status')
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const message = printable(describeFailure(error))
    if (error instanceof AddressRefusedError) this.#end(() => ({ kind: 'refusedAddress', error: message }))
    else if (TIMEOUT_CODES.includes(errorCode(error))) {
      this.#end(durationMs => ({ kind: 'timeout', error: message, durationMs }))
    } else this.fail(message)
  }

  /** Ends the call: with the answer if its status has arrived, else with `otherwise`. */
  #end(otherwise: (durationMs: number) => SendReply): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    if (this.#controller) this.#controller.abort(CALL_OVER)
    else this.#events.onWaitOver()
    const durationMs = Math.round(this.#clock.elapsed() - this.#startedAt)
    this.#events.onReply(
      this.#answer
        ? { kind: 'answered', ...this.#answer, responseSnippet: this.#snippet(), durationMs }
        : otherwise(durationMs),
    )
  }

  #snippet(): string {
    const bytes = Buffer.concat(this.#chunks).subarray(0, SNIPPET_BYTES_MAX)
    // A decoder in stream mode leaves out an incomplete character: here, one cut by the bound.
    return printable(new TextDecoder().decode(bytes, { stream: true }))
  }
}

/** Replaces NUL, which PostgreSQL does not store as text: a receiver must not be able to block the attempt's commit. */
function printable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}
