// Leases newly created runs in the very commit that creates them, as far as there is room: no second transaction
// picks them up, and their first pass is sent the moment they are durable.

import type { Change } from '../../domain/model/change.ts'
import type { Run } from '../../domain/model/run.ts'
import { firstSeq } from '../../domain/model/seq.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EngineCapacity } from '../support/engine-capacity.ts'
import type { Reservation } from './runner-queue.ts'

export interface LeaseAtCreationDeps {
  clock: Clock
  leaseMs: number
  owner: string
  slots: EngineCapacity
  /** A seat on a runner that the run could be sent to right now; `full`: all of them have enough to do. */
  seat(run: Run): Reservation | 'none' | 'full'
  start(run: Run, seat: Reservation): void
}

interface Leased {
  run: Run
  seat: Reservation
}

/** Shared by all that admit nothing, which nearly every unit does; never added to. */
const NONE: Leased[] = []

/** One unit's worth of admissions. Call `admit` before each try to commit, `start` after success, `end` always. */
export class LeaseAtCreation {
  readonly #deps: LeaseAtCreationDeps
  #admitted: Leased[] = NONE

  constructor(deps: LeaseAtCreationDeps) {
    this.#deps = deps
  }

  /** Leases what can be leased of the runs these changes create; forgets what an earlier, stale try leased. */
  admit(changes: readonly Change[]): void {
    this.end()
    const { clock, leaseMs, owner, slots } = this.#deps
    // Of this try: what it creates may be younger than the first one.
    const now = clock.now()
    for (const change of changes) {
      if (change.type !== 'run.created' || !isFresh(change.run)) continue
      const seat = this.#seat(change.run)
      if (!seat) continue
      if (!slots.take()) {
        seat.release()
        return
      }
      Object.assign(change.run, {
        status: 'running',
        startedAt: now,
        startedSeq: firstSeq(0) + 1,
        leaseOwner: owner,
        availableAt: now + leaseMs,
      } satisfies Partial<Run>)
      if (this.#admitted === NONE) this.#admitted = []
      this.#admitted.push({ run: change.run, seat })
    }
  }

  /**
   * The unit is durable: the first passes go out. Unless that took longer than the leases last: then the lane may
   * have claimed the runs already, and they are its.
   */
  start(): void {
    const { clock, start } = this.#deps
    for (const { run, seat } of this.#admitted) {
      if (clock.now() < (run.availableAt as number)) start(run, seat)
      else this.#giveUp(seat)
    }
    this.#admitted = NONE
  }

  /** Frees what was leased for a unit that did not become durable. */
  end(): void {
    for (const { seat } of this.#admitted) this.#giveUp(seat)
    this.#admitted = NONE
  }

  /** A run for which there is no room is born waiting for it, and is claimed into the line. */
  #seat(run: Run): Reservation | undefined {
    const seat = this.#deps.seat(run)
    if (seat === 'full') run.waitingFor = { kind: 'runner' }
    return typeof seat === 'string' ? undefined : seat
  }

  #giveUp(seat: Reservation): void {
    this.#deps.slots.free()
    seat.release()
  }
}

/**
 * Forks may carry steps, and a child may be born cancelled: those are claimed like any other run. So are runs with
 * slots or a throttle: claims alone count who holds a slot.
 */
function isFresh({ replayOf, cancelRequested, holds }: Run): boolean {
  return replayOf === undefined && !cancelRequested && !holds?.slots && !holds?.throttle
}
