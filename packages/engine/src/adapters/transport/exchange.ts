// One HTTP invoke: the handler that undici calls back, which turns every outcome into one InvokeReply. Opened by http.ts.

import { isUtf8 } from 'node:buffer'
import { RESPONSE_BYTES_MAX } from '@perdure/protocol'
import type { Dispatcher } from 'undici'
import type { InvokeCall, InvokeReply } from '../../ports/transport.ts'
import { startDeadline } from './deadline.ts'
import { CALL_OVER, describeFailure } from './failure.ts'
import type { CallEvents } from './http-calls.ts'

/**
 * Uses undici's plain handler methods, which pass raw header bytes: an invoke reads no response header (measured: 45 us
 * of CPU per invoke, 50 with the methods that parse them).
 *
 * undici calls `onConnect` right before it writes the request, on a socket that is open as far as it can know. That splits
 * failures in two. Before it nothing was sent, so the call is refused; undici itself moves a call to another socket when
 * a kept-alive one closes before the write. After it bytes may have arrived, and a runner that closed the connection at
 * that moment looks the same as one that crashed during the request: the call is broken.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #call: InvokeCall
  readonly #events: CallEvents<InvokeReply>
  readonly #timer: NodeJS.Timeout
  #chunks: Buffer[] = []
  #bytes = 0
  #status = 0
  #isOver = false
  #abort: ((error: Error) => void) | undefined

  constructor(call: InvokeCall, events: CallEvents<InvokeReply>) {
    this.#call = call
    this.#events = events
    this.#timer = startDeadline(this, call.timeoutMs)
    call.onDeadline?.(() => {
      if (!this.#isOver) this.#timer.refresh()
    })
    call.signal.addEventListener('abort', this)
  }

  /** The caller aborted. */
  handleEvent(): void {
    this.#end({ kind: 'aborted' })
  }

  /** The deadline passed. */
  expire(): void {
    const what = this.#abort ? 'no complete answer' : 'no connection'
    this.fail(`${what} within ${this.#call.timeoutMs} ms`)
  }

  /** Ends the call without an answer: refused if nothing was sent, else broken. */
  fail(message: string): void {
    this.#end({ kind: this.#abort ? 'broken' : 'refused', message })
  }

  onConnect(abort: (error?: Error) => void): void {
    // Throwing drops the call and keeps the socket, which `abort` would destroy.
    if (this.#isOver) throw CALL_OVER
    this.#abort = abort
    this.#events.onWaitOver()
  }

  onHeaders(status: number): boolean {
    this.#status = status
    return true
  }

  onData(chunk: Buffer): boolean {
    this.#bytes += chunk.length
    if (this.#bytes > RESPONSE_BYTES_MAX) this.#end({ kind: 'tooLarge' })
    else this.#chunks.push(chunk)
    return true
  }

  onComplete(): void {
    const bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
    if (isUtf8(bytes)) this.#end({ kind: 'answered', status: this.#status, body: bytes.toString() })
    else this.#end({ kind: 'broken', message: 'the answer is not UTF-8' })
  }

  onError(error: Error): void {
    this.fail(describeFailure(error))
  }

  #end(reply: InvokeReply): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#call.signal.removeEventListener('abort', this)
    this.#chunks = []
    // Does nothing when the answer is complete; otherwise it destroys the socket, which cannot be used again.
    if (this.#abort) this.#abort(CALL_OVER)
    else this.#events.onWaitOver()
    this.#events.onReply(reply)
  }
}
