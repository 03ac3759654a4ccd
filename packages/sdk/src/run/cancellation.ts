// Cancels a pass and the step callbacks that run in it. Called by the transports when the engine aborts the invoke.

/** The cancellation of one pass. Its AbortSignal is created on first use, because most steps never use it. */
export class Cancellation {
  #cancelled = false
  #reason: unknown
  #controller: AbortController | undefined
  #isLate = false
  #listener: ((isLate: boolean) => void) | undefined

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

  /**
   * Cancels the pass. `isLate`: the engine still accepts its answer. Further calls do nothing, unless they say that the answer is
   * no longer accepted.
   */
  cancel(reason: unknown = new Error('The invoke was cancelled'), isLate = false): void {
    if (this.#cancelled && (isLate || !this.#isLate)) return
    this.#isLate = isLate
    this.#cancelled = true
    this.#reason ??= reason
    this.#listener?.(isLate)
    this.#controller?.abort(reason)
  }

  /** Sets the listener of the pass. It is called at once if the pass is already cancelled. */
  onCancel(listener: (isLate: boolean) => void): void {
    this.#listener = listener
    if (this.#cancelled) listener(this.#isLate)
  }
}
