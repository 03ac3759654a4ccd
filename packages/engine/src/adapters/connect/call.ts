// One invoke of a Connect runner: it is on a socket, or waits for its runner to come back, and
// whatever happens ends in one InvokeReply. Moved about by its runner (runner.ts).

import type { TransientMap } from '../../collections/transient-map.ts'
import { type InvokeCall, type InvokeReply, RESPONSE_BYTES_MAX } from '../../ports/transport.ts'
import { startDeadline } from '../transport/deadline.ts'
import { CheckpointQueue } from './checkpoints.ts'
import type { ConnectedRunner } from './runner.ts'
import type { ConnectSession } from './session.ts'

/** Calls by their ids. */
export type Calls = TransientMap<string, Call>

export interface CallOptions {
  id: string
  call: InvokeCall
  runner: ConnectedRunner
  /** Called once, with the reply. */
  onReply(reply: InvokeReply): void
}

export class Call {
  readonly id: string
  readonly runner: ConnectedRunner
  /** The socket it is on: none while it waits for its runner to come back. */
  session: ConnectSession | undefined
  readonly #call: InvokeCall
  readonly #onReply: CallOptions['onReply']
  readonly #timer: NodeJS.Timeout
  /** Where it is kept: of its session, or of a socket that was lost. */
  #holder: Calls | undefined
  #over = false
  #result: InvokeReply | undefined
  #checkpoints: CheckpointQueue | undefined

  constructor({ id, call, runner, onReply }: CallOptions) {
    this.id = id
    this.runner = runner
    this.#call = call
    this.#onReply = onReply
    this.#timer = startDeadline(call.timeoutMs, expire, this)
    call.signal.addEventListener('abort', this)
  }

  /** The caller aborted. */
  handleEvent(): void {
    this.stop({ kind: 'aborted' })
  }

  /** Kept in `holder` from now on, and nowhere else. */
  moveTo(holder: Calls, session?: ConnectSession): void {
    this.#holder?.delete(this.id)
    this.#holder = holder
    this.session = session
    holder.set(this.id, this)
  }

  /** Hands the invoke to a socket. */
  send(session: ConnectSession): void {
    this.moveTo(session.calls, session)
    session.socket.send('invoke', this.id, this.#payload())
  }

  /** The answer came. It counts when every checkpoint before it was answered. */
  answered(status: number, body: string): void {
    this.#result ??= isOver(body, RESPONSE_BYTES_MAX)
      ? { kind: 'tooLarge' }
      : { kind: 'answered', status, body }
    if (!this.#checkpoints?.isBusy) this.#end(this.#result)
  }

  /** The runner reports finished steps. */
  checkpoint(payload: string): void {
    const fault = this.#takeCheckpoint(payload)
    if (fault) this.stop(fault)
  }

  #takeCheckpoint(payload: string): InvokeReply | undefined {
    const store = this.#call.onCheckpoint?.bind(this.#call)
    if (!store) return broken('a checkpoint came for an invoke that takes none')
    if (isOver(payload, RESPONSE_BYTES_MAX)) return { kind: 'tooLarge' }
    this.#timer.refresh()
    this.#checkpoints ??= new CheckpointQueue(store, {
      onStored: answer => {
        this.#timer.refresh()
        this.session?.socket.send('checkpoint.ack', this.id, answer)
      },
      onRefused: () => this.stop({ kind: 'aborted' }),
      onFailed: () => this.stop(broken('a checkpoint could not be stored')),
      onIdle: () => {
        if (this.#result) this.#end(this.#result)
      },
    })
    return this.#checkpoints.add(payload) ? undefined : broken('too many checkpoints wait to be stored')
  }

  /** Ends the call without an answer. */
  fail(message: string): void {
    this.stop(broken(message))
  }

  /** The deadline came. */
  expire(): void {
    this.fail(`no complete answer within ${this.#call.timeoutMs} ms`)
  }

  /** Ends the call and tells the runner, if it has it, to stop. */
  stop(reply: InvokeReply): void {
    if (this.#over) return
    this.session?.socket.send('invoke.cancel', this.id)
    this.#end(reply)
  }

  #end(reply: InvokeReply): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#timer)
    this.#call.signal.removeEventListener('abort', this)
    this.#checkpoints?.stop()
    this.#holder?.delete(this.id)
    this.session = undefined
    this.#onReply(reply)
    this.runner.roomMoved()
  }

  /** The invoke request with the deadline spliced in, never parsed. */
  #payload(): string {
    const { body, timeoutMs } = this.#call
    const deadlineMs = Math.min(Math.max(1, Math.ceil(timeoutMs)), Number.MAX_SAFE_INTEGER)
    return `{"deadlineMs":${deadlineMs}${body.length > 2 ? ',' : ''}${body.slice(1)}`
  }
}

function expire(call: Call): void {
  call.expire()
}

function broken(message: string): InvokeReply {
  return { kind: 'broken', message }
}

/** Whether the text has more bytes than that; most are too short to be counted. */
function isOver(text: string, bytesMax: number): boolean {
  return text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax
}
