// Leases newly created runs in the very commit that creates them, as far as there is room: no second transaction
// picks them up, and their first pass is sent the moment they are durable.

import type { Change } from '../domain/change.ts'
import type { Run } from '../domain/run.ts'
import { firstSeq } from '../domain/seq.ts'
import type { Clock } from '../ports/clock.ts'
import type { Slots } from './slots.ts'

export interface AdmissionDeps {
  clock: Clock
  leaseMs: number
  owner: string
  slots: Slots
  /** Whether the run could be sent to a runner right now. */
  accepts(run: Run): boolean
  start(run: Run): void
}

/** Shared by all that admit nothing, which nearly every unit does; never added to. */
const NONE: Run[] = []

/** One unit's worth of admissions. Call `admit` before each try to commit, `start` after success, `end` always. */
export class Admission {
  readonly #deps: AdmissionDeps
  #admitted: Run[] = NONE

  constructor(deps: AdmissionDeps) {
    this.#deps = deps
  }

  /** Leases what can be leased of the runs these changes create; forgets what an earlier, stale try leased. */
  admit(changes: readonly Change[]): void {
    this.end()
    const { clock, leaseMs, owner, slots, accepts } = this.#deps
    // Of this try: what it creates may be younger than the first one.
    const now = clock.now()
    for (const change of changes) {
      if (change.type !== 'run.created' || !isFresh(change.run) || !accepts(change.run)) continue
      if (!slots.take()) return
      Object.assign(change.run, {
        status: 'running',
        startedAt: now,
        startedSeq: firstSeq(0) + 1,
        leaseOwner: owner,
        availableAt: now + leaseMs,
      } satisfies Partial<Run>)
      if (this.#admitted === NONE) this.#admitted = []
      this.#admitted.push(change.run)
    }
  }

  /**
   * The unit is durable: the first passes go out. Unless that took longer than the leases last: then the lane may
   * have claimed the runs already, and they are its.
   */
  start(): void {
    const { clock, slots, start } = this.#deps
    for (const run of this.#admitted) {
      if (clock.now() < (run.availableAt as number)) start(run)
      else slots.free()
    }
    this.#admitted = NONE
  }

  /** Frees what was leased for a unit that did not become durable. */
  end(): void {
    for (const _ of this.#admitted) this.#deps.slots.free()
    this.#admitted = NONE
  }
}

/**
 * Forks may carry steps, and a child may be born cancelled: those are claimed like any other run. So are runs with
 * slots or a throttle: claims alone count who holds a slot.
 */
function isFresh({ replayOf, cancelAsked, holds }: Run): boolean {
  return replayOf === undefined && !cancelAsked && !holds?.slots && !holds?.throttle
}
