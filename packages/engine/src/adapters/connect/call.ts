// One invoke of a Connect runner, from the request to its one reply. The call is on a socket, or waits for its runner to
// come back; runner.ts moves it between them.

import { RESPONSE_BYTES_MAX } from '@perdure/protocol'
import type { TransientMap } from '../../base/transient-map.ts'
import type { RunnerSocket } from '../../ports/connections.ts'
import type { InvokeCall, InvokeReply } from '../../ports/transport.ts'
import { startDeadline } from '../transport/deadline.ts'
import { CheckpointQueue } from './checkpoints.ts'

/** Calls by their ids. */
export type Calls = TransientMap<string, Call>

/** The owner of a call: a registered socket, or a lost one, on which nothing can be sent. */
export interface CallHolder {
  readonly calls: Calls
  readonly socket?: RunnerSocket
}

export interface CallOptions {
  id: string
  call: InvokeCall
  /** Called once, with the reply. */
  onReply(reply: InvokeReply): void
}

export class Call {
  readonly id: string
  readonly #call: InvokeCall
  readonly #onReply: CallOptions['onReply']
  readonly #timer: NodeJS.Timeout
  #holder: CallHolder | undefined
  #isOver = false
  #result: InvokeReply | undefined
  #checkpoints: CheckpointQueue | undefined

  constructor({ id, call, onReply }: CallOptions) {
    this.id = id
    this.#call = call
    this.#onReply = onReply
    this.#timer = startDeadline(this, call.timeoutMs)
    call.signal.addEventListener('abort', this)
  }

  /** The URL of the runner that the call is for. */
  get url(): string {
    return this.#call.url
  }

  /** The caller aborted. */
  handleEvent(): void {
    this.#stop({ kind: 'aborted' })
  }

  moveTo(holder: CallHolder): void {
    if (holder === this.#holder) return
    this.#holder?.calls.delete(this.id)
    this.#holder = holder
    holder.calls.set(this.id, this)
  }

  /** Sends the invoke on the holder's socket. */
  send(holder: Required<CallHolder>): void {
    this.moveTo(holder)
    holder.socket.send('invoke', this.id, this.#payload())
  }

  /** The result came. It becomes the reply once every checkpoint before it is stored. */
  answer(status: number, body: string): void {
    this.#result ??= isLonger(body, RESPONSE_BYTES_MAX)
      ? { kind: 'tooLarge' }
      : { kind: 'answered', status, body }
    if (!this.#checkpoints?.isBusy) this.#end(this.#result)
  }

  /** The runner reports finished steps. */
  checkpoint(payload: string): void {
    const failure = this.#addCheckpoint(payload)
    if (failure) this.#stop(failure)
  }

  #addCheckpoint(payload: string): InvokeReply | undefined {
    const store = this.#call.onCheckpoint?.bind(this.#call)
    if (!store) return broken('a checkpoint came for an invoke that takes none')
    if (isLonger(payload, RESPONSE_BYTES_MAX)) return { kind: 'tooLarge' }
    this.#timer.refresh()
    this.#checkpoints ??= new CheckpointQueue(store, {
      onStored: ack => {
        this.#timer.refresh()
        this.#holder?.socket?.send('checkpoint.ack', this.id, ack)
      },
      onObsolete: () => this.#stop({ kind: 'aborted' }),
      onFailed: () => this.#stop(broken('a checkpoint could not be stored')),
      onIdle: () => {
        if (this.#result) this.#end(this.#result)
      },
    })
    return this.#checkpoints.add(payload) ? undefined : broken('too many checkpoints wait to be stored')
  }

  /** Ends the call without an answer, and cancels it at the runner. */
  fail(message: string): void {
    this.#stop(broken(message))
  }

  /** Ends the call whose socket was lost: there is nothing to cancel it on. */
  breakOff(): void {
    this.#end(broken('the socket was lost over the call'))
  }

  /** The deadline passed. */
  expire(): void {
    this.fail(`no complete answer within ${this.#call.timeoutMs} ms`)
  }

  #stop(reply: InvokeReply): void {
    if (this.#isOver) return
    this.#holder?.socket?.send('invoke.cancel', this.id)
    this.#end(reply)
  }

  #end(reply: InvokeReply): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#call.signal.removeEventListener('abort', this)
    this.#checkpoints?.stop()
    this.#holder?.calls.delete(this.id)
    this.#holder = undefined
    this.#onReply(reply)
  }

  /** The invoke request with the deadline spliced into its text, which is never parsed. */
  #payload(): string {
    const { body, timeoutMs } = this.#call
    const deadlineMs = Math.min(Math.max(1, Math.ceil(timeoutMs)), Number.MAX_SAFE_INTEGER)
    return `{"deadlineMs":${deadlineMs}${body.length > 2 ? ',' : ''}${body.slice(1)}`
  }
}

function broken(message: string): InvokeReply {
  return { kind: 'broken', message }
}

/** Whether the text has more bytes than the bound; a text with few characters is not counted. */
function isLonger(text: string, bytesMax: number): boolean {
  return text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax
}
