// Which engines wait for room on the runners of this engine, and whose turn it is. Owned by presence.ts.

import type { Clock } from '../../../ports/clock.ts'

/** How long a request counts. An engine that waits repeats it more often. */
export const ROOM_REQUEST_VALID_MS = 3000

export class RoomRequests {
  readonly #clock: Clock
  /** By the runner's URL: the engines that wait, and when each requested last. */
  readonly #requests = new Map<string, Map<string, number>>()
  /** Runners whose room went to another engine the last time: the next is for this engine. */
  readonly #yielded = new Set<string>()
  #turn = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(url: string, engine: string): void {
    const engines = this.#requests.get(url) ?? new Map<string, number>()
    this.#requests.set(url, engines.set(engine, this.#clock.elapsed()))
  }

  /** Returns the engine that gets the runner's room now: every other time, one of the waiting engines in turn. */
  next(url: string): string | undefined {
    const since = this.#clock.elapsed() - ROOM_REQUEST_VALID_MS
    const waiting = [...(this.#requests.get(url) ?? [])].flatMap(([engine, at]) => (at > since ? engine : []))
    if (waiting.length === 0 || this.#yielded.delete(url)) return undefined
    this.#yielded.add(url)
    return waiting[++this.#turn % waiting.length]
  }

  /** Removes an engine that is gone. */
  remove(engine: string): void {
    for (const engines of this.#requests.values()) engines.delete(engine)
  }

  /** Removes the requests that no longer count. */
  tick(): void {
    for (const [url, engines] of this.#requests) {
      removeBefore(engines, this.#clock.elapsed() - ROOM_REQUEST_VALID_MS)
      if (engines.size === 0) this.#requests.delete(url)
    }
  }
}

export function removeBefore(times: Map<string, number>, since: number): void {
  for (const [key, at] of times) if (at < since) times.delete(key)
}
