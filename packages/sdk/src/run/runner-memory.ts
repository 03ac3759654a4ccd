// The state that a runner keeps from pass to pass, only in its process. A handler has one memory for all its passes.

import { LatePlaces } from './late-places.ts'

/** The running callbacks, by the idempotency key of their step: a pass that is over may have left its callback running. */
export type CallbacksUnderWay = Map<string, Promise<unknown>>

export interface RunnerMemory {
  readonly callbacks: CallbacksUnderWay
  readonly late: LatePlaces
}

export function newMemory(late = new LatePlaces()): RunnerMemory {
  return { callbacks: new Map(), late }
}
