// The calls of a transport or sender that have no reply yet, so that closing can wait for them and end the rest.

import { TransientMap } from '../../collections/transient-map.ts'

export class PendingCalls<Key extends string | number, Call extends { fail(message: string): void }> {
  readonly #calls = new TransientMap<Key, Call>()
  #onQuiet: () => void = () => {}

  add(key: Key, call: Call): void {
    this.#calls.set(key, call)
  }

  get(key: Key): Call | undefined {
    return this.#calls.get(key)
  }

  /** A copy: calls may end while it is gone through. */
  all(): Call[] {
    return [...this.#calls.values()]
  }

  delete(key: Key): void {
    this.#calls.delete(key)
    if (this.#calls.size === 0) this.#onQuiet()
  }

  /** Waits until no call is under way, for as long as the grace lasts, and fails what is left. */
  async drain(graceMs: number): Promise<void> {
    if (this.#calls.size > 0) {
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, graceMs)
        this.#onQuiet = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    for (const call of this.all()) call.fail(ENGINE_CLOSING)
  }
}

/** Why a call ends, or does not start, while the engine closes. */
export const ENGINE_CLOSING = 'the engine is closing'
