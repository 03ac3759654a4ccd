// The life of one engine in the simulation. A crash must leave nothing running, although the engine's objects are
// still in memory: every port of a dead engine goes silent. A zombie is an engine that was only held up (a stalled
// machine): answers it was waiting for still reach it, and it may try to commit, but it gets nothing new.

import type { Clock } from '../../../packages/engine/src/ports/clock.ts'
import type { Queue } from '../../../packages/engine/src/ports/queue.ts'

export class Life {
  readonly no: number
  state: 'alive' | 'zombie' | 'dead' = 'alive'
  /** It was told to stop: from some moment on nobody listens. */
  draining = false

  constructor(no: number) {
    this.no = no
  }

  get alive(): boolean {
    return this.state === 'alive'
  }

  get dead(): boolean {
    return this.state === 'dead'
  }
}

/** Never settles: what a dead engine waits for. */
export function never<T>(): Promise<T> {
  return new Promise(() => {})
}

/** Timers of a dead engine stand still. */
export function mortalClock(clock: Clock, life: Life): Clock {
  return {
    now: () => clock.now(),
    at: (time, fn) =>
      clock.at(time, () => {
        if (life.alive) fn()
      }),
  }
}

export function mortalQueue(queue: Queue, life: Life): Queue {
  return {
    wake: (lane, at) => queue.wake(lane, at),
    wait: (lane, until, signal) => (life.alive ? queue.wait(lane, until, signal) : never()),
  }
}
