// Aborts the invoke of a run under way. It does the same as an AbortController at a tenth of the cost: every run has one, and
// every pass listens to it.

import type { InvokeListener, InvokeSignal } from '../../ports/transport.ts'

export class Interrupt implements InvokeSignal {
  aborted = false
  readonly #listeners = new Set<InvokeListener>()

  /** Calls every listener, once; listeners added later are not called. */
  abort(): void {
    if (this.aborted) return
    this.aborted = true
    for (const listener of [...this.#listeners]) {
      if (typeof listener === 'function') listener()
      else listener.handleEvent()
    }
  }

  addEventListener(_: 'abort', listener: InvokeListener): void {
    this.#listeners.add(listener)
  }

  removeEventListener(_: 'abort', listener: InvokeListener): void {
    this.#listeners.delete(listener)
  }
}
