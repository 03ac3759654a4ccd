// Closes the interface without loss: new requests are refused, streams end, and requests in flight get a bounded time to finish
// before the sockets are closed. authorize.ts enters requests; app.ts runs the drain when it closes.

import type { ServerResponse } from 'node:http'
import type { Clock } from '../../ports/clock.ts'

export class Drain {
  /** True from the moment the app closes: requests that arrive after it are answered 503. */
  started = false
  #inFlight = 0
  readonly #streams = new Set<() => void>()
  #onEmpty: (() => void) | undefined
  /** Shared by all responses: a closure for each would cost every request. */
  readonly #leave = (): void => {
    if (--this.#inFlight === 0) this.#onEmpty?.()
  }

  /** How many responses are in flight. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** How many streams the drain would end. */
  get streams(): number {
    return this.#streams.size
  }

  /** Counts the response as in flight until it is written or its connection is closed: `close` follows both, once. */
  enter(response: ServerResponse): void {
    this.#inFlight++
    response.on('close', this.#leave)
  }

  /** Calls `end` when the drain starts, until the returned function is called. */
  onStart(end: () => void): () => void {
    this.#streams.add(end)
    return () => this.#streams.delete(end)
  }

  /** Resolves when nothing is in flight, or after `graceMs`. */
  async run(clock: Clock, graceMs: number): Promise<void> {
    this.started = true
    for (const end of this.#streams) end()
    if (this.#inFlight === 0) return
    await new Promise<void>(resolve => {
      const cancel = clock.after(graceMs, resolve)
      this.#onEmpty = () => {
        cancel()
        resolve()
      }
    })
  }
}
