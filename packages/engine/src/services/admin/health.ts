// Readiness (docs/operating.md#probes): probes the dependencies behind a network or a disk, and reports when the engine is
// draining. Called by the HTTP routes and for the metrics.

import type { Queue } from '../../ports/queue.ts'
import type { Core } from '../commit/core.ts'
import { withDeadline } from '../support/with-deadline.ts'

/** A probe without an answer by then counts as failed. */
const PROBE_TIMEOUT_MS = 2000

export interface Readiness {
  ready: boolean
  checks: Record<string, 'ok' | 'unavailable'>
  draining: boolean
}

export interface HealthDeps extends Pick<Core, 'store' | 'limiter' | 'clock' | 'log'> {
  queue: Queue
}

export class Health {
  readonly #deps: HealthDeps
  #draining = false

  constructor(deps: HealthDeps) {
    this.#deps = deps
  }

  /** From now on the engine is not ready, whatever its probes answer. */
  drain(): void {
    this.#draining = true
  }

  async check(): Promise<Readiness> {
    const { store, queue, limiter } = this.#deps
    const probed: [string, (() => Promise<void>) | undefined][] = [
      ['store', () => store.ping()],
      ['queue', queue.ping?.bind(queue)],
      ['limiter', limiter.ping?.bind(limiter)],
    ]
    const answers = probed.map(
      async ([name, ping]) => ping && ([name, await this.#probe(name, ping)] as const),
    )
    const checks: Readiness['checks'] = Object.fromEntries(
      (await Promise.all(answers)).filter(answer => answer !== undefined),
    )
    const healthy = Object.values(checks).every(check => check === 'ok')
    return { ready: healthy && !this.#draining, checks, draining: this.#draining }
  }

  /** The error goes to the log, never into the answer. */
  async #probe(name: string, ping: () => Promise<void>): Promise<'ok' | 'unavailable'> {
    try {
      await withDeadline(this.#deps.clock, PROBE_TIMEOUT_MS, ping())
      return 'ok'
    } catch (error) {
      this.#deps.log.error({ err: error, dependency: name }, 'a dependency is unavailable')
      return 'unavailable'
    }
  }
}
