// The fourth beat: after a commit, ring whoever waits for what it changed. Everything here may be lost or repeated
// without harm; lanes and streams look into the store by themselves from time to time.

import type { Change } from '../domain/change.ts'
import type { Queue } from '../ports/queue.ts'
import type { Live } from './live.ts'

/** Told when an outsider changed a run that may be under way here: its pass should be looked at again. */
export type Interrupt = (runId: string) => void

export class Announcer {
  readonly #queue: Queue
  readonly #live: Live
  #interrupt: Interrupt = () => {}

  constructor(options: { queue: Queue; live: Live }) {
    this.#queue = options.queue
    this.#live = options.live
  }

  /** The driver, once it exists: it aborts the pass of a run that somebody else ended. */
  onInterrupt(interrupt: Interrupt): void {
    this.#interrupt = interrupt
  }

  announce(changes: readonly Change[]): void {
    for (const change of changes) this.#ring(change)
  }

  #ring(change: Change): void {
    switch (change.type) {
      case 'run.created':
      case 'run.moved':
        this.#live.ring(change.run.id)
        if (change.run.leaseOwner === undefined) this.#wakeRuns(change.run.availableAt)
        break
      case 'step.recorded':
      case 'step.moved':
        this.#live.ring(change.step.runId)
        break
      case 'log.written':
        this.#live.ring(change.line.runId)
        break
      case 'step.woken':
        this.#live.ring(change.runId)
        this.#wakeRuns(change.at)
        break
      case 'run.cancelAsked':
        this.#interrupt(change.runId)
        this.#wakeRuns(change.at)
        break
      case 'app.runnerArrived':
        this.#wakeRuns(change.at)
        break
      case 'delivery.created':
      case 'delivery.moved':
        if (change.delivery.availableAt !== undefined)
          this.#queue.wake('deliveries', change.delivery.availableAt)
        break
    }
  }

  #wakeRuns(at: number | undefined): void {
    if (at !== undefined) this.#queue.wake('runs', at)
  }
}
