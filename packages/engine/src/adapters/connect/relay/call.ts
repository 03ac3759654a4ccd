// One invoke that another engine carries out, seen from the engine that drives the run.

import type { Bus } from '../../../ports/bus.ts'
import type { InvokeCall, InvokeReply } from '../../../ports/transport.ts'

/** Questions without an answer, one every other second: the other engine answers at once. */
const ASKED_MAX = 7

export interface RelayedCallOptions {
  id: string
  /** The engine that has the runner's socket. */
  engine: string
  call: InvokeCall
  sentAt: number
  bus: Bus
  onReply(reply: InvokeReply): void
}

export class RelayedCall {
  readonly id: string
  readonly engine: string
  readonly #options: RelayedCallOptions
  /** Since it was heard of. */
  #asked = 0
  /** Whether the other engine ever said anything of it. */
  #isKnown = false
  #over = false
  /** The newest checkpoint and its answer: it is asked for again when that was lost. */
  #checkpoint: { no: number; answer: Promise<string> } = { no: 0, answer: Promise.resolve('') }

  constructor(options: RelayedCallOptions) {
    this.id = options.id
    this.engine = options.engine
    this.#options = options
    options.call.signal.addEventListener('abort', this)
  }

  /** The deadline is kept where the socket is. */
  send(): void {
    const { id, engine, bus, call, sentAt } = this.#options
    const { url, timeoutMs, body } = call
    const head = { id, url, sentAt, timeoutMs, checkpoints: call.onCheckpoint !== undefined }
    bus.publish('invoke', `${JSON.stringify(head)}\n${body}`, engine)
  }

  /** The caller aborted. */
  handleEvent(): void {
    this.#stop({ kind: 'aborted' })
  }

  /** The other engine is asked whether it still knows the call; false when it has been asked often enough. */
  ask(): boolean {
    return ++this.#asked <= ASKED_MAX
  }

  heard(): void {
    this.#asked = 0
    this.#isKnown = true
  }

  /** The other engine does not know it: it never arrived there, or what became of it was forgotten. */
  unknown(): void {
    const message = 'the engine that has the runner knows nothing of the call'
    this.end(this.#isKnown ? { kind: 'broken', message } : { kind: 'refused', message })
  }

  fail(message: string): void {
    this.#stop({ kind: 'broken', message })
  }

  async checkpoint(no: number, payload: string): Promise<void> {
    this.heard()
    const { bus, id, engine } = this.#options
    if (no < this.#checkpoint.no) return
    if (no > this.#checkpoint.no) this.#checkpoint = { no, answer: this.#store(payload) }
    const answer = await this.#checkpoint.answer
    if (!this.#over) bus.publish('checkpointed', `${id} ${no} ${answer}`, engine)
  }

  end(reply: InvokeReply): void {
    if (this.#over) return
    this.#over = true
    this.#options.call.signal.removeEventListener('abort', this)
    this.#options.onReply(reply)
  }

  /** `+` and the acknowledgement, `-` when the invoke is of no use any more, `!` when it failed. */
  async #store(payload: string): Promise<string> {
    try {
      const answer = await this.#options.call.onCheckpoint?.(payload)
      return answer === undefined ? '-' : `+${answer}`
    } catch {
      return '!'
    }
  }

  #stop(reply: InvokeReply): void {
    if (!this.#over) this.#options.bus.publish('cancel', this.id, this.engine)
    this.end(reply)
  }
}
