// Closing without loss: new requests are refused, streams are told to end, and the requests in flight get a
// bounded time to finish before the sockets are cut. Entered by `admit`, run by `app.ts` when it closes.

import type { ServerResponse } from 'node:http'
import type { Clock } from '../ports/clock.ts'

export class Drain {
  /** True from the moment the app closes: requests that come now are answered 503. */
  started = false
  readonly #open = new Set<ServerResponse>()
  readonly #streams = new Set<() => void>()
  readonly #leave: (this: ServerResponse) => void
  #onEmpty: (() => void) | undefined

  constructor() {
    const left = (response: ServerResponse): void => {
      this.#open.delete(response)
      if (this.#open.size === 0) this.#onEmpty?.()
    }
    // One listener for every response, told by `this` which: a closure each would cost every request.
    this.#leave = function () {
      left(this)
    }
  }

  /** How many responses are in flight. */
  get inFlight(): number {
    return this.#open.size
  }

  /** How many streams would be told to end. */
  get streams(): number {
    return this.#streams.size
  }

  /** Counts the response as in flight until it is written out or its connection is gone. */
  enter(response: ServerResponse): void {
    this.#open.add(response)
    response.on('finish', this.#leave)
    response.on('close', this.#leave)
  }

  /** Calls `end` when the drain starts, until the returned function is called. */
  onStart(end: () => void): () => void {
    this.#streams.add(end)
    return () => this.#streams.delete(end)
  }

  /** Resolves when nothing is in flight any more, or after `graceMs`. */
  async run(clock: Clock, graceMs: number): Promise<void> {
    this.started = true
    for (const end of this.#streams) end()
    if (this.#open.size === 0) return
    await new Promise<void>(resolve => {
      const cancel = clock.at(clock.now() + graceMs, resolve)
      this.#onEmpty = () => {
        cancel()
        resolve()
      }
    })
  }
}
