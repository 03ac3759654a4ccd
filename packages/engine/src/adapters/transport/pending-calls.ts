// The calls of a transport or sender that have no reply yet, so that closing can wait for them and end the rest.

import { TransientMap } from '../../base/transient-map.ts'

/** How long the close of a transport or sender waits for its pending calls. */
const CLOSE_GRACE_MS = 1000

/** Why a call ends, or does not start, while the engine closes. */
export const ENGINE_CLOSING = 'the engine is closing'

export class PendingCalls<Key extends string | number, Call extends { fail(message: string): void }> {
  readonly #calls = new TransientMap<Key, Call>()
  #onIdle: () => void = () => {}
  #closed: Promise<void> | undefined

  get isClosing(): boolean {
    return this.#closed !== undefined
  }

  add(key: Key, call: Call): void {
    this.#calls.set(key, call)
  }

  get(key: Key): Call | undefined {
    return this.#calls.get(key)
  }

  /** A copy: calls may end during the iteration. */
  all(): Call[] {
    return [...this.#calls.values()]
  }

  delete(key: Key): void {
    this.#calls.delete(key)
    if (this.#calls.size === 0) this.#onIdle()
  }

  /** Waits at most `graceMs` for the pending calls, then fails the rest. */
  close(graceMs = CLOSE_GRACE_MS): Promise<void> {
    this.#closed ??= this.#drain(graceMs)
    return this.#closed
  }

  async #drain(graceMs: number): Promise<void> {
    if (this.#calls.size > 0) {
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, graceMs)
        this.#onIdle = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    for (const call of this.all()) call.fail(ENGINE_CLOSING)
  }
}
