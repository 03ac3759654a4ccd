// The life of one engine in the simulation. After a crash the engine's objects are still in memory, so every port of
// a dead engine goes silent. A zombie is an engine on a stalled machine: answers it was waiting for still reach it,
// and it may try to commit, but it gets nothing new.

import type { Clock } from '../../../packages/engine/src/ports/clock.ts'
import type { Queue } from '../../../packages/engine/src/ports/queue.ts'

export class Life {
  readonly no: number
  state: 'alive' | 'zombie' | 'dead' = 'alive'
  /** The engine drains: from some moment on it does not listen any more. */
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

/** A promise that never settles, for calls of a dead engine. */
export function never<T>(): Promise<T> {
  return new Promise(() => {})
}

/** The clock of one engine. Its timers do not fire after the engine's death. */
export function mortalClock(clock: Clock, life: Life): Clock {
  const whileAlive = (fn: () => void) => () => {
    if (life.alive) fn()
  }
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    at: (time, fn) => clock.at(time, whileAlive(fn)),
    after: (ms, fn) => clock.after(ms, whileAlive(fn)),
  }
}

export function mortalQueue(queue: Queue, life: Life): Queue {
  return {
    wake: (lane, at) => queue.wake(lane, at),
    wait: (lane, until, signal) => (life.alive ? queue.wait(lane, until, signal) : never()),
  }
}
