// Readiness (docs/operating.md#probes): probes the dependencies behind a network or a disk, and reports when the engine is
// draining or held. Called by the HTTP routes and for the metrics.

import type { Check } from '../../ports/engine-reports.ts'
import type { Queue } from '../../ports/queue.ts'
import type { Core } from '../commit/core.ts'
import type { EngineHold } from '../support/engine-hold.ts'
import { withDeadline } from '../support/with-deadline.ts'

/** A probe without an answer after this time counts as failed. */
const PROBE_TIMEOUT_MS = 2000

export interface Readiness {
  ready: boolean
  checks: Record<string, Check>
  draining: boolean
  held: boolean
}

export type HealthDeps = Core & { queue: Queue; hold: Pick<EngineHold, 'isHeld'> }

export class Health {
  readonly #deps: HealthDeps
  #draining = false
  #latest: { at: number; checks: Readiness['checks'] } | undefined

  constructor(deps: HealthDeps) {
    this.#deps = deps
  }

  /** Makes the engine not ready from now on, whatever its probes answer. */
  drain(): void {
    this.#draining = true
  }

  get isDraining(): boolean {
    return this.#draining
  }

  get isHeld(): boolean {
    return this.#deps.hold.isHeld
  }

  async check(): Promise<Readiness> {
    const { store, clock } = this.#deps
    const probed = await Promise.all([this.#probe('store', store), this.services()])
    const checks: Readiness['checks'] = { ...Object.fromEntries(probed[0]), ...probed[1] }
    this.#latest = { at: clock.elapsed(), checks }
    const healthy = Object.values(checks).every(check => check === 'ok')
    const { isHeld, isDraining } = this
    return { ready: healthy && !isDraining && !isHeld, checks, draining: isDraining, held: isHeld }
  }

  /** The state of the services other than the store. */
  async services(): Promise<Readiness['checks']> {
    const { queue, limiter } = this.#deps
    const probes = [this.#probe('queue', queue), this.#probe('limiter', limiter)]
    return Object.fromEntries((await Promise.all(probes)).flat())
  }

  /** The state of the dependencies, from a check that is at most this old: probing the store is a write. */
  async checks(maxAgeMs: number): Promise<Readiness['checks']> {
    const { at, checks } = this.#latest ?? {}
    const isRecent = at !== undefined && this.#deps.clock.elapsed() - at <= maxAgeMs
    return checks && isRecent ? checks : (await this.check()).checks
  }

  /** Nothing when the dependency needs no probe. The error goes to the log, never into the answer. */
  async #probe(name: string, dependency: { ping?(): Promise<void> }): Promise<[string, Check][]> {
    if (!dependency.ping) return []
    try {
      await withDeadline(this.#deps.clock, PROBE_TIMEOUT_MS, dependency.ping())
      return [[name, 'ok']]
    } catch (error) {
      this.#deps.log.error({ err: error, dependency: name }, 'a dependency is unavailable')
      return [[name, 'unavailable']]
    }
  }
}
