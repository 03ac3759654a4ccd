// The requests for another pass of a run that the engine has not acknowledged (docs/wire-protocol.md#another-pass). Each is
// repeated from time to time, and when its link has reconnected. Owned by the passes.

import type { AskForPass } from '../replay/late-handler.ts'
import { frameText, type Outlet } from './frames.ts'

const REPEAT_MS = 5_000
/** Half an hour. */
const REPEATS_MAX = 360
/** Maximum number of waiting requests. */
const ASKS_MAX = 1_000

interface Ask {
  readonly outlet: Outlet
  readonly frame: string
  readonly timer: NodeJS.Timeout
  settle(isAnswered: boolean): void
}

export class Asks {
  readonly #asks = new Map<string, Ask>()
  readonly #onAnswered: () => void
  #count = 0

  constructor(onAnswered: () => void) {
    this.#onAnswered = onAnswered
  }

  /** Asks over an outlet. Resolves to whether the engine has answered. */
  ask(outlet: Outlet, { ctx: { runId }, settled }: Parameters<AskForPass>[0]): Promise<boolean> {
    if (this.#asks.size >= ASKS_MAX) return Promise.resolve(false)
    const id = `again-${++this.#count}`
    const frame = frameText('invoke.again', id, { runId, settled })
    return new Promise(settle => {
      let repeats = 0
      const timer = setInterval(() => {
        if (++repeats > REPEATS_MAX) this.#end(id, false)
        else outlet.send(frame)
      }, REPEAT_MS).unref()
      this.#asks.set(id, { outlet, frame, timer, settle })
      outlet.send(frame)
    })
  }

  acknowledged(id: string): void {
    this.#end(id, true)
  }

  /** Returns the frames of an outlet that are not acknowledged. */
  unacknowledged(outlet: Outlet): string[] {
    return [...this.#asks.values()].filter(ask => ask.outlet === outlet).map(({ frame }) => frame)
  }

  /** Gives up the requests of an outlet. */
  abandon(outlet: Outlet): void {
    for (const [id, ask] of this.#asks) if (ask.outlet === outlet) this.#end(id, false)
  }

  #end(id: string, isAnswered: boolean): void {
    const ask = this.#asks.get(id)
    if (!ask) return
    this.#asks.delete(id)
    clearInterval(ask.timer)
    ask.settle(isAnswered)
    this.#onAnswered()
  }
}
