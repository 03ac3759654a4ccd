// The driver holds every run this engine has leased, from its lease until it parks or ends. The lane of runs passes it
// claimed runs; pass-loop.ts sends their passes.

import { TransientMap } from '../../base/transient-map.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import { type Route, route } from '../../domain/pass/routing.ts'
import { type LoadedRun, RunState } from '../../domain/run/state.ts'
import { EngineCapacity } from '../support/engine-capacity.ts'
import type { Stoppable } from '../support/service.ts'
import type { ActiveRun } from './active-run.ts'
import { Interrupt } from './interrupt.ts'
import { Invoker, type InvokerDeps, NONE_TRIED } from './invoke.ts'
import { LeaseAtCreation, type LeaseAtCreationDeps } from './lease-at-creation.ts'
import { PassLoop } from './pass-loop.ts'
import { type Reservation, RunnerQueue } from './runner-queue.ts'
import { Settlement } from './settlement.ts'

export interface DriverDeps extends Omit<InvokerDeps, 'queue'> {
  isLive(runner: Runner): boolean
  /** Most runs under way at once. */
  passesMax: number
}

export class Driver implements Stoppable {
  readonly #deps: DriverDeps
  readonly #active = new TransientMap<string, ActiveRun>()
  readonly capacity: EngineCapacity
  readonly #queue: RunnerQueue
  readonly #passes: PassLoop
  readonly #creation: LeaseAtCreationDeps
  #isDraining = false

  constructor(deps: DriverDeps) {
    this.#deps = deps
    this.capacity = new EngineCapacity(deps.passesMax)
    const route = (run: Run, tried: ReadonlySet<Runner>) => this.#route(run, tried)
    this.#queue = new RunnerQueue({ ...deps, route })
    this.#creation = {
      ...deps,
      capacity: this.capacity,
      reserve: run => (this.#isDraining ? 'none' : this.#queue.tryReserve(run, NONE_TRIED)),
      start: (run, reservation) => this.#start(RunState.created(run), reservation),
    }
    this.#passes = new PassLoop({
      ...deps,
      queue: this.#queue,
      route,
      invoker: new Invoker({ ...deps, queue: this.#queue }),
      settlement: new Settlement({
        ...deps,
        leaseAtCreation: () => this.leaseAtCreation(),
        isCurrent: active => this.#active.get(active.state.run.id) === active,
      }),
      isDraining: () => this.#isDraining,
    })
  }

  /** The runs under way, whose leases have to be extended. */
  get activeRuns(): Iterable<ActiveRun> {
    return this.#active.values()
  }

  /** The pass of a run that is under way here: where it was sent, and when. */
  passOf(runId: string): ActiveRun['sent'] {
    return this.#active.get(runId)?.sent
  }

  /** For a unit that creates runs: leases those there is room for in the unit's own commit, so they start without a claim. */
  leaseAtCreation(): LeaseAtCreation {
    return new LeaseAtCreation(this.#creation)
  }

  /** Drives a run that the lane has claimed and acquired room for. */
  accept(claimed: LoadedRun): void {
    this.#start(RunState.claimed(claimed), undefined)
  }

  /** Whether the run waits here for room on a runner. */
  waitsForRunnerRoom(runId: string): boolean {
    return this.#queue.has(runId)
  }

  /** The runner may have room for more, or is gone. `isForPeer`: another engine gets the first of it. */
  runnerRoomChanged(url: string, isForPeer: boolean): void {
    if (isForPeer) this.#queue.reserveForPeer(url)
    this.#queue.roomChanged(url)
  }

  /** Takes the run's pass out of the queue for runner room, if it waits there. Called when the run was paused. */
  withdraw(runId: string): void {
    this.#queue.withdraw(runId)
  }

  /** Aborts the invoke in flight. Called when an outsider ended the run, or its lease is lost. */
  interrupt(runId: string): void {
    this.#active.get(runId)?.abort.abort()
  }

  /** Sends no further pass. Resolves when none is under way; at the deadline it aborts the rest and gives the runs back. */
  async stop(deadline?: AbortSignal): Promise<void> {
    this.#isDraining = true
    this.#queue.withdrawAll()
    const abortAll = () => {
      for (const active of this.#active.values()) active.abort.abort()
    }
    deadline?.addEventListener('abort', abortAll)
    if (deadline?.aborted) abortAll()
    await this.capacity.waitUntilIdle()
    deadline?.removeEventListener('abort', abortAll)
  }

  /** A run with a reservation has begun: it was leased in the commit that created it. */
  #start(state: RunState, reservation: Reservation | undefined): void {
    const { id } = state.run
    const active: ActiveRun = { state, abort: new Interrupt(), reservation }
    // Under a stalled pass this engine's own lease may run out and the lane claim the run again. The old pass can change nothing now.
    this.interrupt(id)
    this.#active.set(id, active)
    void this.#passes
      .drive(active, reservation !== undefined)
      .catch(error => this.#deps.log.error({ err: error, runId: id }, 'a run was dropped; its lease will run out'))
      .finally(() => {
        if (this.#active.get(id) === active) this.#active.delete(id)
        this.capacity.release()
      })
  }

  #route(run: Run, tried: ReadonlySet<Runner>): Route {
    const { catalog, health, isLive, random, transport } = this.#deps
    return route({
      run,
      runners: catalog.view(run.namespace).runners(run.app),
      isLive,
      isAvoided: runner => tried.has(runner) || health.isAvoided(runner) || transport.reaches?.(runner.url) === false,
      hasRoom: runner => this.#queue.hasRoom(runner.url),
      random: random.next(),
    })
  }
}
