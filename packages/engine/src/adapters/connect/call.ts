// One invoke of a Connect runner, from the request to its one reply. The call is on a socket, or waits for its runner to return;
// runner.ts moves it between them.

import { RESPONSE_BYTES_MAX } from '@perdure/protocol'
import type { TransientMap } from '../../base/transient-map.ts'
import type { RunnerSocket } from '../../ports/connections.ts'
import { type MessageMemory, SMALL_MESSAGE_BYTES_MAX } from '../../ports/message-memory.ts'
import { type InvokeCall, type InvokeReply, STREAM_MARK } from '../../ports/transport.ts'
import { missedDeadline, startDeadline } from '../transport/deadline.ts'

/** Bounds of what one invoke may have waiting: a runner usually sends the next checkpoint after the ack of the last. */
const WAITING_CHECKPOINTS_MAX = 1000
const WAITING_CHECKPOINTS_LENGTH_MAX = 16 * 1024 * 1024
/** Most appends of one invoke that wait: a runner sends 256 KiB without an acknowledgement. */
const WAITING_APPENDS_MAX = 4096

/** The owner of a call: a registered socket, or a lost one, on which nothing can be sent. */
export interface CallOwner {
  /** The calls by their ids. */
  readonly calls: TransientMap<string, Call>
  readonly socket?: RunnerSocket
  /** Looks after the socket while it has calls. */
  readonly watch?: { begin(): void }
}

export interface CallOptions {
  id: string
  call: InvokeCall
  memory: MessageMemory | undefined
  /** Called once, with the reply. */
  onReply(reply: InvokeReply): void
}

export class Call {
  readonly id: string
  /** When it was sent, by the monotonic clock. */
  sentAt = 0
  readonly #call: InvokeCall
  readonly #onReply: CallOptions['onReply']
  readonly #timer: NodeJS.Timeout
  #owner: CallOwner | undefined
  #isOver = false
  #isCancelled = false
  #result: InvokeReply | undefined
  /** The checkpoints that wait: they are stored one at a time, in the order of their arrival. */
  #checkpoints: string[] | undefined
  readonly #memory: MessageMemory | undefined
  #checkpointsLength = 0
  #isStoring = false
  /** Number of appends to streams that are being stored. They are stored concurrently, in the order of their arrival. */
  #appending = 0

  constructor({ id, call, memory, onReply }: CallOptions) {
    this.id = id
    this.#call = call
    this.#memory = memory
    this.#onReply = onReply
    this.#timer = startDeadline(this, call.timeoutMs)
    call.signal.addEventListener('abort', this)
    call.onCancellable?.(() => this.#sendCancel())
  }

  /** The URL of the runner that the call is for. */
  get url(): string {
    return this.#call.url
  }

  /** Called when the caller aborts. */
  handleEvent(): void {
    this.#stop({ kind: 'aborted' })
  }

  moveTo(owner: CallOwner): void {
    if (owner === this.#owner) return
    this.#owner?.calls.delete(this.id)
    this.#owner = owner
    owner.calls.set(this.id, this)
    owner.watch?.begin()
  }

  /** Sends the invoke on the owner's socket. */
  send(owner: Required<CallOwner>, now: number): void {
    this.sentAt = now
    this.moveTo(owner)
    owner.socket.send('invoke', this.id, this.#payload())
  }

  /** Takes the result. It becomes the reply once every checkpoint before it is stored. */
  answer(status: number, body: string): void {
    this.#result ??= isLonger(body, RESPONSE_BYTES_MAX) ? { kind: 'tooLarge' } : this.#answered(status, body)
    this.#endIfStored()
  }

  /** Ends the call if its result has arrived, and nothing that came before it is still being stored. */
  #endIfStored(): void {
    if (this.#result && !this.#isStoring && this.#appending === 0) this.#end(this.#result)
  }

  #answered(status: number, body: string): InvokeReply {
    if (!this.#memory || body.length <= SMALL_MESSAGE_BYTES_MAX) return { kind: 'answered', status, body }
    return { kind: 'answered', status, body, release: this.#memory.take(body.length) }
  }

  /** Takes finished steps that the runner reports. */
  checkpoint(payload: string): void {
    if (!this.#call.onCheckpoint) this.fail('a checkpoint was received for an invoke that accepts none')
    else if (isLonger(payload, RESPONSE_BYTES_MAX)) this.#stop({ kind: 'tooLarge' })
    else if (!this.#addCheckpoint(payload)) this.fail('too many checkpoints wait to be stored')
    else if (!this.#isStoring) void this.#storeCheckpoints()
  }

  /** Returns false when too many already wait. */
  #addCheckpoint(payload: string): boolean {
    this.#timer.refresh()
    this.#checkpoints ??= []
    this.#checkpointsLength += payload.length
    const count = this.#checkpoints.push(payload)
    return count <= WAITING_CHECKPOINTS_MAX && this.#checkpointsLength <= WAITING_CHECKPOINTS_LENGTH_MAX
  }

  async #storeCheckpoints(): Promise<void> {
    this.#isStoring = true
    for (let next = this.#checkpoints?.shift(); next !== undefined; next = this.#checkpoints?.shift()) {
      this.#checkpointsLength -= next.length
      let ack: string | undefined
      const release = next.length > SMALL_MESSAGE_BYTES_MAX ? this.#memory?.take(next.length) : undefined
      try {
        ack = await this.#call.onCheckpoint?.(next)
      } catch {
        return this.fail('a checkpoint could not be stored')
      } finally {
        release?.()
      }
      if (this.#isOver) return
      // The invoke is obsolete: nothing more of it is stored.
      if (ack === undefined) return this.#stop({ kind: 'aborted' })
      this.#timer.refresh()
      this.#owner?.socket?.send('checkpoint.ack', this.id, ack)
    }
    this.#isStoring = false
    this.#endIfStored()
  }

  /** Takes an append of a step to a stream. */
  append(payload: string): void {
    if (!this.#call.onCheckpoint) this.fail('an append to a stream was received for an invoke that accepts none')
    else if (isLonger(payload, RESPONSE_BYTES_MAX)) this.#stop({ kind: 'tooLarge' })
    else if (this.#appending >= WAITING_APPENDS_MAX) this.fail('too many appends to streams wait to be stored')
    else void this.#storeAppend(STREAM_MARK + payload)
  }

  async #storeAppend(payload: string): Promise<void> {
    this.#timer.refresh()
    // The runner has begun to report.
    this.#checkpoints ??= []
    this.#appending++
    const release = payload.length > SMALL_MESSAGE_BYTES_MAX ? this.#memory?.take(payload.length) : undefined
    let ack: string | undefined
    try {
      ack = await this.#call.onCheckpoint?.(payload)
    } catch {
      return this.fail('an append to a stream could not be stored')
    } finally {
      release?.()
      this.#appending--
    }
    if (this.#isOver) return
    if (ack === undefined) return this.#stop({ kind: 'aborted' })
    this.#timer.refresh()
    this.#owner?.socket?.send('stream.ack', this.id, ack)
    this.#endIfStored()
  }

  /** Ends the call without an answer, and cancels it at the runner. */
  fail(message: string): void {
    this.#stop(broken(message))
  }

  /**
   * Ends a call that the runner does not answer, so that another runner takes it, if there is one and this one has not begun to
   * report.
   */
  passOver(message: string): void {
    if (this.#checkpoints === undefined && this.#call.mayMove?.())
      this.#stop({ kind: 'refused', message, isSilent: true })
  }

  /** Ends the call whose socket was lost: there is nothing to cancel it on. `reason`: why, if that is known. */
  breakOff(reason = 'the socket was lost during the call'): void {
    this.#end({ ...broken(reason), isLost: true })
  }

  /** Called when the deadline has passed. */
  expire(): void {
    const silence = this.#owner?.socket?.silence
    const missed = missedDeadline(this.#call.timeoutMs)
    this.fail(silence === undefined ? missed : `${missed}; ${silence}`)
  }

  /** Sends `invoke.cancel`, once: the answer is no longer needed, or soon will not be. */
  #sendCancel(): void {
    if (this.#isOver || this.#isCancelled) return
    this.#isCancelled = true
    this.#owner?.socket?.send('invoke.cancel', this.id)
  }

  #stop(reply: InvokeReply): void {
    if (this.#isOver) return
    this.#sendCancel()
    this.#end(reply)
  }

  #end(reply: InvokeReply): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#call.signal.removeEventListener('abort', this)
    this.#checkpoints = undefined
    this.#owner?.calls.delete(this.id)
    this.#owner = undefined
    if (this.#result?.kind === 'answered' && this.#result !== reply) this.#result.release?.()
    this.#onReply(reply)
  }

  /** The invoke request with the deadline inserted into its text, which is never parsed. */
  #payload(): string {
    const { body, timeoutMs } = this.#call
    const deadlineMs = Math.min(Math.max(1, Math.ceil(timeoutMs)), Number.MAX_SAFE_INTEGER)
    return `{"deadlineMs":${deadlineMs}${body.length > 2 ? ',' : ''}${body.slice(1)}`
  }
}

function broken(message: string): InvokeReply & { kind: 'broken' } {
  return { kind: 'broken', message }
}

/** Whether the text has more bytes than the bound; the bytes of a text with few characters are not counted. */
function isLonger(text: string, bytesMax: number): boolean {
  return text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax
}
