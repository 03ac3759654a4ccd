// The virtual clock of the simulation. Between two timers it lets everything the first one set off run to its end,
// and then looks: `onSettled` is where the checkers read what was committed.

import { VirtualClock } from '../../../packages/engine/src/adapters/clock/virtual.ts'
import { ensure } from './violation.ts'

/** Turns of the event loop without a sign of life after which nothing more is expected. */
const QUIET_TURNS = 4

/** A calm engine needs a handful of turns, a busy one hundreds: this many mean that it turns in circles. */
const TURNS_MAX = 20_000

/** Counts what goes on in real time: calls over the ports, requests. The clock waits until it is still. */
export class Activity {
  #signs = 0
  #underWay = 0

  /** Something happened. */
  sign(): void {
    this.#signs++
  }

  /** Something happens until the promise settles, however many turns that takes. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#underWay++
    try {
      return await work
    } finally {
      this.#underWay--
      this.#signs++
    }
  }

  async still(): Promise<void> {
    for (let quiet = 0, turns = 0; quiet < QUIET_TURNS; turns++) {
      ensure(turns < TURNS_MAX, 'the engine comes to rest between two timers', () => `${turns} turns`)
      const before = this.#signs
      await new Promise(resolve => setImmediate(resolve))
      quiet = this.#underWay === 0 && this.#signs === before ? quiet + 1 : 0
    }
  }
}

export class SimClock extends VirtualClock {
  readonly activity: Activity
  /** Called whenever all is still, before time goes on. */
  readonly settled: { onSettled: () => Promise<void> }

  constructor() {
    const activity = new Activity()
    const settled = { onSettled: async () => {} }
    super({
      settle: async () => {
        await activity.still()
        await settled.onSettled()
      },
    })
    this.activity = activity
    this.settled = settled
  }

  /** Resolves after so many virtual milliseconds. */
  after(ms: number): Promise<void> {
    return new Promise(resolve => this.at(this.now() + ms, resolve))
  }
}
