// Runners that just refused a connection. Routing avoids them for a while, so that one dead address does not make every run of
// its app flap between queued and running. A registration ends that at once.

import { type Runner, runnerKey } from '../../domain/model/workflow.ts'
import type { Clock } from '../../ports/clock.ts'

const RUNNER_AVOID_MS_MIN = 500
const RUNNER_AVOID_MS_MAX = 30_000

export class RunnerHealth {
  readonly #clock: Clock
  readonly #avoided = new Map<string, { until: number; delayMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  refused(runner: Runner): void {
    const now = this.#clock.elapsed()
    const earlier = this.#avoided.get(runnerKey(runner))
    if (earlier && earlier.until > now) return
    const delayMs = Math.min(RUNNER_AVOID_MS_MAX, earlier ? earlier.delayMs * 2 : RUNNER_AVOID_MS_MIN)
    this.#avoided.set(runnerKey(runner), { until: now + delayMs, delayMs })
  }

  /** The runner registered, or answered a pass. */
  arrived(runner: Runner): void {
    if (this.#avoided.size > 0) this.#avoided.delete(runnerKey(runner))
  }

  isAvoided(runner: Runner): boolean {
    if (this.#avoided.size === 0) return false
    const entry = this.#avoided.get(runnerKey(runner))
    return entry !== undefined && entry.until > this.#clock.elapsed()
  }
}
