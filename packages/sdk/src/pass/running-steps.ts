// Reports to the engine which callbacks of a pass have been running for long, so that people see them before they end
// (docs/wire-protocol.md#running-steps). A pass of short callbacks reports nothing. Used by the pass.

import { RUNNING_STEPS_MAX } from '@perdure/protocol'
import type { RunningCallback } from './discoveries.ts'

/**
 * Reports running callbacks. `fields` are fields of a checkpoint, each after a comma. Never rejects: a lost report is not
 * repeated.
 */
export interface RunningReporter {
  tell(fields: string): void
  /** A callback that runs for longer than this is reported. */
  readonly afterMs: number
}

/** The fields of a running callback in a report. */
type Running = Pick<RunningCallback, 'id' | 'startedAt'>

export class RunningSteps {
  readonly #reporter: RunningReporter
  readonly #running: () => readonly Running[]
  /** When the newest reported callback began. */
  #toldUntil = Number.NEGATIVE_INFINITY
  #timer: ReturnType<typeof setTimeout> | undefined

  /** `running` returns the running callbacks in the order of their start. */
  constructor(reporter: RunningReporter, running: () => readonly Running[]) {
    this.#reporter = reporter
    this.#running = running
  }

  /** Starts a timer that watches the running callbacks until none is left to report. */
  watch(): void {
    this.#timer ??= this.#startTimer(this.#reporter.afterMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #startTimer(ms: number) {
    const timer = setTimeout(() => this.#check(), ms)
    // A runner that has nothing else to do may exit.
    timer.unref?.()
    return timer
  }

  /** Reports all running callbacks as soon as one that was not reported is old enough. */
  #check(): void {
    this.#timer = undefined
    const steps = this.#running()
    const untold = steps.find(({ startedAt }) => startedAt > this.#toldUntil)
    if (!untold) return
    const now = performance.now()
    const leftMs = untold.startedAt + this.#reporter.afterMs - now
    if (leftMs > 1) this.#timer = this.#startTimer(leftMs)
    else {
      this.#toldUntil = (steps.at(-1) as Running).startedAt
      this.#reporter.tell(
        `,"running":${JSON.stringify(steps.slice(0, RUNNING_STEPS_MAX).map(step => told(step, now)))}`,
      )
    }
  }
}

function told({ id: { hashedId: id, name }, startedAt }: Running, now: number) {
  return { id, name, startedMs: Math.round(now - startedAt) }
}
