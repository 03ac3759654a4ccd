// The virtual clock of the simulation. Between two timers it lets everything that the first timer started run to its end. Then it
// calls `onSettled`, where the checkers read what was committed.

import { VirtualClock } from '../../../packages/engine/src/adapters/clock/virtual.ts'
import { ensure } from './violation.ts'

/** After this many turns of the event loop without activity, nothing more is expected. */
const QUIET_TURNS = 4

/** A calm engine needs a handful of turns, a busy one hundreds. This many turns mean an endless loop. */
const TURNS_MAX = 20_000

/** Counts activity in real time: calls of the ports, requests. The clock waits until there is none. */
class Activity {
  #signs = 0
  #underWay = 0

  /** Records an activity. */
  sign(): void {
    this.#signs++
  }

  /** Counts an activity until the promise settles, however many turns that takes. */
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
  /** `onSettled` is called whenever there is no activity, before time advances. */
  readonly settled: { onSettled: () => Promise<void> }

  constructor(start?: number) {
    const activity = new Activity()
    const settled = { onSettled: async () => {} }
    super({
      ...(start === undefined ? {} : { start }),
      settle: async () => {
        await activity.still()
        await settled.onSettled()
      },
    })
    this.activity = activity
    this.settled = settled
  }

  /** Resolves after this many virtual milliseconds. */
  wait(ms: number): Promise<void> {
    return new Promise(resolve => this.after(ms, resolve))
  }
}
