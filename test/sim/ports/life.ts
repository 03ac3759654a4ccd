// The life of one engine in the simulation. After a crash the engine's objects are still in memory, so every port of a dead
// engine goes silent. A zombie is an engine on a stalled machine: it still gets the answers it was waiting for, and may try to
// commit, but it gets nothing new.

import { callAt } from '../../../packages/engine/src/adapters/clock/call-at.ts'
import type { Clock } from '../../../packages/engine/src/ports/clock.ts'
import type { Queue } from '../../../packages/engine/src/ports/queue.ts'

export class Life {
  readonly no: number
  state: 'alive' | 'zombie' | 'dead' = 'alive'
  /** The engine drains: at some moment it stops listening. */
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

/** The difference between the machine's wall clock and the simulation's time. */
export class Wall {
  aheadMs = 0
  wasSet = false

  set(by: number): void {
    this.aheadMs += by
    this.wasSet = true
  }
}

/** The clock of one engine. Its timers do not fire after the engine's death. */
export function mortalClock(clock: Clock, life: Life, wall: Wall): Clock {
  const whileAlive = (fn: () => void) => () => {
    if (life.alive) fn()
  }
  const own = {
    now: () => clock.now() + wall.aheadMs,
    elapsed: () => clock.elapsed(),
    after: (ms: number, fn: () => void) => clock.after(ms, whileAlive(fn)),
  }
  return { ...own, at: (time, fn) => callAt(own, time, fn) }
}

/** A planted bug: durations use the wall clock. */
export function wallOnly(clock: Clock): Clock {
  return {
    now: () => clock.now(),
    elapsed: () => clock.now(),
    at: (time, fn) => clock.at(time, fn),
    after: (ms, fn) => clock.at(clock.now() + ms, fn),
  }
}

export function mortalQueue(queue: Queue, life: Life): Queue {
  return {
    wake: (lane, at) => queue.wake(lane, at),
    wait: (lane, until, signal) => (life.alive ? queue.wait(lane, until, signal) : never()),
  }
}
