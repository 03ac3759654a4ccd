// The calls of a transport or sender that have no reply yet, so that closing can wait for them and end the rest.

export class UnderWay<Call extends { fail(message: string): void }> {
  readonly #calls = new Set<Call>()
  #onQuiet: () => void = () => {}

  add(call: Call): void {
    this.#calls.add(call)
  }

  delete(call: Call): void {
    this.#calls.delete(call)
    if (this.#calls.size === 0) this.#onQuiet()
  }

  /** Waits until no call is under way, for as long as the grace lasts, and fails what is left. */
  async end(graceMs: number): Promise<void> {
    if (this.#calls.size > 0) {
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, graceMs)
        this.#onQuiet = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    for (const call of [...this.#calls]) call.fail(CLOSING)
  }
}

/** Why a call ends, or does not start, while the engine closes. */
export const CLOSING = 'the engine is closing'
