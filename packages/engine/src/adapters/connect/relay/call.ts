// One invoke that another engine carries out, as seen by the engine that drives the run. Owned by transport.ts.

import type { Bus } from '../../../ports/bus.ts'
import type { InvokeCall, InvokeReply } from '../../../ports/transport.ts'
import { CHECKPOINT_ANSWER, HOST_TOPICS, type InvokeHead } from './messages.ts'
import { CALL_SILENT_TICKS_MAX } from './tick.ts'

export interface RelayedCallOptions {
  id: string
  /** The engine that has the runner's socket. */
  engine: string
  call: InvokeCall
  bus: Bus
  onReply(reply: InvokeReply): void
}

export class RelayedCall {
  readonly id: string
  readonly engine: string
  readonly #options: RelayedCallOptions
  /** Ticks since the last message about the call. */
  #silentTicks = 0
  /** Whether the host ever sent a message about the call. */
  #isConfirmed = false
  #isOver = false
  /** The newest checkpoint and its answer, which is sent again when the host repeats the checkpoint. */
  #checkpoint: { no: number; answer: Promise<string> } = { no: 0, answer: Promise.resolve('') }

  constructor(options: RelayedCallOptions) {
    this.id = options.id
    this.engine = options.engine
    this.#options = options
    options.call.signal.addEventListener('abort', this)
    options.call.onCancellable?.(() => {
      if (!this.#isOver) options.bus.publish(HOST_TOPICS.cancelSoftly, this.id, this.engine)
    })
  }

  /** Sends the invoke to the host, which also keeps its deadline. */
  send(sentAt: number): void {
    const { id, engine, bus, call } = this.#options
    const { url, timeoutMs, body } = call
    // JSON writes Infinity as null.
    const checkpoints = call.onCheckpoint !== undefined
    const head: InvokeHead = { id, url, sentAt, timeoutMs, checkpoints, mayMove: call.mayMove?.() ?? false }
    bus.publish(HOST_TOPICS.invoke, `${JSON.stringify(head)}\n${body}`, engine)
  }

  /** Called when the caller aborts. */
  handleEvent(): void {
    this.#stop({ kind: 'aborted' })
  }

  /** Whether to request its status from the host once more; false when the host was silent for too long. */
  tick(): boolean {
    return ++this.#silentTicks <= CALL_SILENT_TICKS_MAX
  }

  /** Notes that the host sent a message about the call. */
  confirm(): void {
    this.#silentTicks = 0
    this.#isConfirmed = true
  }

  /** Called when the host does not have the call: the invoke never arrived, or the host has forgotten it. */
  unknown(): void {
    const message = 'the engine with the socket of the runner does not know the call'
    this.end(this.#isConfirmed ? { kind: 'broken', message } : { kind: 'refused', message })
  }

  fail(message: string): void {
    this.#stop({ kind: 'broken', message })
  }

  async checkpoint(no: number, payload: string): Promise<void> {
    this.confirm()
    const { bus, id, engine } = this.#options
    if (no < this.#checkpoint.no) return
    if (no > this.#checkpoint.no) this.#checkpoint = { no, answer: this.#store(payload) }
    const answer = await this.#checkpoint.answer
    if (!this.#isOver) bus.publish(HOST_TOPICS.checkpointAnswer, `${id} ${no} ${answer}`, engine)
  }

  end(reply: InvokeReply): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.call.signal.removeEventListener('abort', this)
    this.#options.onReply(reply)
  }

  async #store(payload: string): Promise<string> {
    try {
      const ack = await this.#options.call.onCheckpoint?.(payload)
      return ack === undefined ? CHECKPOINT_ANSWER.obsolete : `${CHECKPOINT_ANSWER.stored}${ack}`
    } catch {
      return CHECKPOINT_ANSWER.failed
    }
  }

  #stop(reply: InvokeReply): void {
    if (!this.#isOver) this.#options.bus.publish(HOST_TOPICS.cancel, this.id, this.engine)
    this.end(reply)
  }
}
