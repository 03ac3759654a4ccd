// The appends of one pass to output streams that the engine has not acknowledged. Owned by the passes.

import { type Append, AppendRefusedError, type StreamOutlet } from '../stream/outlet.ts'
import { fieldOf, type Outlet, streamText } from './frames.ts'

interface PendingAppend {
  readonly frame: string
  isOver(): boolean
  resolve(): void
  reject(refusal: AppendRefusedError): void
}

export class StreamAppends implements StreamOutlet {
  /** The number is bounded by the unacknowledged bytes. */
  readonly appendsMax = Number.POSITIVE_INFINITY
  readonly #passId: string
  readonly #outlet: Outlet
  /** By step, stream and number, in the order in which they were sent. */
  readonly #pending = new Map<string, PendingAppend>()

  constructor(passId: string, outlet: Outlet) {
    this.#passId = passId
    this.#outlet = outlet
  }

  append(append: Append, isOver: () => boolean): Promise<void> {
    const frame = streamText(this.#passId, append)
    return new Promise((resolve, reject) => {
      this.#pending.set(keyOf(append), { frame, isOver, resolve, reject })
      this.#outlet.send(frame)
    })
  }

  /** The engine has stored or refused an append. */
  acknowledged(payload: unknown): void {
    const [stepId, name, seq] = ['stepId', 'name', 'seq'].map(field => fieldOf(payload, field))
    const key = keyOf({ stepId, name, seq })
    const pending = this.#pending.get(key)
    if (!pending) return
    this.#pending.delete(key)
    const error = fieldOf(payload, 'error')
    if (error === undefined) pending.resolve()
    else pending.reject(new AppendRefusedError(String(fieldOf(error, 'code')), String(fieldOf(error, 'message'))))
  }

  /** The frames that are not acknowledged, except those of attempts that have ended. */
  get unacknowledged(): string[] {
    return [...this.#pending.values()].filter(({ isOver }) => !isOver()).map(({ frame }) => frame)
  }
}

function keyOf({ stepId, name, seq }: { stepId: unknown; name: unknown; seq: unknown }): string {
  return `${stepId} ${name} ${seq}`
}
