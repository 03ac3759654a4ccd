// One HTTP invoke: the handler that undici calls back, which turns every outcome into one InvokeReply. Opened by http.ts.

import { isUtf8 } from 'node:buffer'
import { RESPONSE_BYTES_MAX, RUNNER_HEADER, RUNNER_MARK } from '@perdure/protocol'
import type { Dispatcher } from 'undici'
import { type MessageMemory, SMALL_MESSAGE_BYTES_MAX } from '../../ports/message-memory.ts'
import type { InvokeCall, InvokeReply } from '../../ports/transport.ts'
import { missedDeadline, startDeadline } from './deadline.ts'
import { CALL_OVER, describeFailure, isConnectionLost } from './failure.ts'
import type { CallEvents } from './http-calls.ts'
import type { SentCall, Silence } from './silence.ts'

/**
 * Uses undici's plain handler methods, which pass raw header bytes: an invoke reads at most one response header (measured: 45 us
 * of CPU per invoke, 50 with the methods that parse them).
 *
 * undici calls `onConnect` right before it writes the request, on a socket that is open as far as it can know. This splits
 * failures in two. Before the call nothing was sent, so the invoke is refused; undici itself moves it to another socket when a
 * kept-alive one closes before the write. After the call bytes may have arrived, and a runner that closed the connection at that
 * moment looks the same as one that crashed during the request: the call is broken.
 */
export class Exchange implements Dispatcher.DispatchHandler, SentCall {
  readonly #call: InvokeCall
  readonly #events: CallEvents<InvokeReply>
  readonly #watch: Watch
  sent?: NonNullable<SentCall['sent']>
  readonly #timer: NodeJS.Timeout
  #chunks: Buffer[] = []
  #bytes = 0
  #status = 0
  #isForeign = false
  #isComplete = false
  #isOver = false
  #abort: ((error: Error) => void) | undefined

  constructor(call: InvokeCall, events: CallEvents<InvokeReply>, watch: Watch) {
    this.#call = call
    this.#events = events
    this.#watch = watch
    this.#timer = startDeadline(this, call.timeoutMs)
    call.onDeadline?.(() => {
      if (this.#isOver || this.#isComplete) return
      this.#timer.refresh()
      this.#watch.silence.heard(this.#watch.origin)
    })
    call.signal.addEventListener('abort', this)
  }

  /** Called when the caller aborts. */
  handleEvent(): void {
    this.#end({ kind: 'aborted' })
  }

  /** Called when the deadline has passed. */
  expire(): void {
    const { timeoutMs } = this.#call
    this.fail(this.#abort ? missedDeadline(timeoutMs) : `no connection within ${timeoutMs} ms`)
  }

  /** Ends the call without an answer: refused if nothing was sent, else broken. `isLost`: its connection ended. */
  fail(message: string, isLost = false): void {
    const { silence, origin } = this.#watch
    if (this.#abort) this.#end({ kind: 'broken', message, ...(isLost ? { isLost } : {}) })
    else this.#end({ kind: 'refused', message, ...(silence.isSilent(origin) ? { isSilent: true } : {}) })
  }

  passOver(message: string): void {
    if (this.#call.mayMove?.()) this.#end({ kind: 'refused', message, isSilent: true })
  }

  onConnect(abort: (error?: Error) => void): void {
    // Throwing drops the call and keeps the socket; `abort` would destroy the socket.
    if (this.#isOver) throw CALL_OVER
    this.#abort = abort
    this.#events.onWaitOver()
    this.#watch.silence.sent(this.#watch.origin, this)
  }

  onHeaders(status: number, headers: readonly Buffer[]): boolean {
    this.#status = status
    this.#watch.silence.heard(this.#watch.origin)
    this.#isForeign = this.#call.isMarked === true && !hasMark(headers)
    return true
  }

  onData(chunk: Buffer): boolean {
    this.#watch.silence.heard(this.#watch.origin)
    this.#bytes += chunk.length
    if (this.#bytes > RESPONSE_BYTES_MAX) this.#end(this.#isForeign ? TOO_LARGE_A_PAGE : { kind: 'tooLarge' })
    else this.#chunks.push(chunk)
    return true
  }

  /** The whole answer is here: it meets the deadline, however long it waits to be read. */
  onComplete(): void {
    const { memory } = this.#watch
    this.#isComplete = true
    clearTimeout(this.#timer)
    if (!memory || this.#bytes <= SMALL_MESSAGE_BYTES_MAX) this.#end(this.#answer())
    else memory.request(this.#bytes, release => this.#read(release))
  }

  #read(release: () => void): void {
    const reply: InvokeReply = this.#isOver ? { kind: 'aborted' } : this.#answer()
    if (reply.kind === 'answered') reply.release = release
    else release()
    this.#end(reply)
  }

  #answer(): InvokeReply {
    const bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
    if (this.#isForeign) return { kind: 'answered', status: this.#status, body: bytes.toString(), isForeign: true }
    if (isUtf8(bytes)) return { kind: 'answered', status: this.#status, body: bytes.toString() }
    return { kind: 'broken', message: 'the answer is not UTF-8' }
  }

  onError(error: Error): void {
    this.fail(describeFailure(error), isConnectionLost(error))
  }

  #end(reply: InvokeReply): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#watch.silence.ended(this.#watch.origin, this)
    this.#call.signal.removeEventListener('abort', this)
    this.#chunks = []
    // Does nothing when the answer is complete; otherwise it destroys the socket, which cannot be used again.
    if (this.#abort) this.#abort(CALL_OVER)
    else this.#events.onWaitOver()
    this.#events.onReply(reply)
  }
}

/** Notes whether the origin gives signs of life, and holds what is needed to read the answer. */
interface Watch {
  silence: Silence
  origin: string
  memory: MessageMemory | undefined
}

const TOO_LARGE_A_PAGE: InvokeReply = { kind: 'broken', message: `the answer has no ${RUNNER_HEADER} and is too large` }

/** Whether the raw headers, names and values in turn, have the mark of a runner. */
function hasMark(headers: readonly Buffer[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as Buffer
    if (name.length === RUNNER_HEADER.length && name.toString('latin1').toLowerCase() === RUNNER_HEADER)
      return headers[i + 1]?.toString('latin1') === RUNNER_MARK
  }
  return false
}
