// How a pass learns that its caller is gone (a cancelled run aborts the invoke), and how a step callback does.

/** One pass's cancellation. Its AbortSignal is made only when somebody asks: most steps never do. */
export class Cancellation {
  #cancelled = false
  #reason: unknown
  #controller: AbortController | undefined
  #listener: (() => void) | undefined

  get cancelled(): boolean {
    return this.#cancelled
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#cancelled) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Cancels the pass, once. */
  cancel(reason: unknown = new Error('The invoke was cancelled')): void {
    if (this.#cancelled) return
    this.#cancelled = true
    this.#reason = reason
    this.#listener?.()
    this.#controller?.abort(reason)
  }

  /** The pass's own reaction; at once when it is cancelled already. */
  onCancel(listener: () => void): void {
    this.#listener = listener
    if (this.#cancelled) listener()
  }
}
