// The driver holds every run this engine has leased, from its lease until it parks or ends. It claims runs for the lane as
// far as there is room for their passes; pass-loop.ts sends these.

import { TransientMap } from '../../base/transient-map.ts'
import type { Run, RunnersOfRun } from '../../domain/model/run.ts'
import type { PassSent } from '../../domain/model/step.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import { type Route, route } from '../../domain/pass/routing.ts'
import { type LoadedRun, RunState } from '../../domain/run/state.ts'
import type { RunningStep } from '../../domain/view/running-step.ts'
import type { Claim, LeftRun } from '../../ports/store.ts'
import type { Stoppable } from '../support/service.ts'
import type { ActiveRun } from './active-run.ts'
import type { MessageBudget } from './capacity/message-budget.ts'
import { RunCapacity } from './capacity/run-capacity.ts'
import { Interrupt } from './interrupt.ts'
import { Invoker, type InvokerDeps } from './invoke.ts'
import { LeaseAtCreation, type LeaseAtCreationDeps } from './lease-at-creation.ts'
import { PassLoop } from './pass-loop.ts'
import { RoomForClaims } from './room-for-claims.ts'
import { NONE_TRIED, type Reservation, RunnerQueue } from './runner-queue.ts'
import { Settlement } from './settlement.ts'
import { Suspects, type SuspectsDeps } from './suspects.ts'

export interface DriverDeps extends Omit<InvokerDeps, 'queue' | 'suspects'> {
  isLive(runner: Runner): boolean
  /** Runs that may be under way at once; beyond it, there is a reserve (domain/pass/room/places). */
  passesMax: number
  /** Bytes for the state of the runs under way. */
  stateBytesMax: number
  /** The large messages of runners that are read. */
  messages: MessageBudget
  /** Called when runs that a claim left in the store may have room. */
  onRoom(): void
  /** Whether other engines work on the store too. */
  isShared: boolean
  bus: SuspectsDeps['bus']
}

export class Driver implements Stoppable {
  readonly #deps: DriverDeps
  readonly #active = new TransientMap<string, ActiveRun>()
  readonly capacity: RunCapacity
  readonly #queue: RunnerQueue
  readonly #roomForClaims: RoomForClaims
  readonly #passes: PassLoop
  readonly #creation: LeaseAtCreationDeps
  #isDraining = false

  constructor(deps: DriverDeps) {
    this.#deps = deps
    const { passesMax: max, stateBytesMax: memory, messages } = deps
    this.capacity = new RunCapacity({ ...deps, max, memory, onRelease: () => messages.roomChanged() })
    messages.isExceeded = () => this.capacity.isExceeded
    const route = (run: RunnersOfRun, tried: ReadonlySet<Runner>) => this.#route(run, tried)
    this.#queue = new RunnerQueue({ ...deps, route })
    const { catalog, health, isLive } = deps
    this.#roomForClaims = new RoomForClaims({
      ...deps,
      roomOf: url => this.#queue.roomOf(url),
      runners: ({ namespace, app }) =>
        catalog
          .view(namespace)
          .runners(app)
          .filter(runner => isLive(runner) && !health.isAvoided(runner)),
      fullRunner: run => this.#queue.fullRunner(run),
    })
    this.#creation = {
      ...deps,
      capacity: this.capacity,
      reserve: run => this.#reserveNew(run),
      start: (run, reservation, leasedAt) => this.#start(RunState.created(run), leasedAt, reservation),
    }
    const suspects = new Suspects({ ...deps, underWay: runner => deps.load.underWay(runner) })
    this.#passes = new PassLoop({
      ...deps,
      suspects,
      queue: this.#queue,
      roomForClaims: this.#roomForClaims,
      route,
      invoker: new Invoker({ ...deps, suspects, queue: this.#queue }),
      settlement: new Settlement({
        ...deps,
        leaseAtCreation: () => this.leaseAtCreation(),
        onSize: active => this.capacity.resize(active),
        isCurrent: active => this.#active.get(active.state.run.id) === active,
      }),
      isDraining: () => this.#isDraining,
      mustLeave: active => this.capacity.mustLeave(active),
    })
  }

  /** The runs under way, whose leases have to be extended. */
  get activeRuns(): Iterable<ActiveRun> {
    return this.#active.values()
  }

  /** Whether the run is under way at this engine. */
  drives(runId: string): boolean {
    return this.#active.get(runId) !== undefined
  }

  /** Resolves when the run is no longer under way at this engine; undefined if it is not. */
  untilParked(runId: string): Promise<void> | undefined {
    const active = this.#active.get(runId)
    if (!active) return undefined
    return new Promise(resolve => {
      active.whenOver ??= []
      active.whenOver.push(resolve)
    })
  }

  /** The pass of a run that is under way here: where it was sent, and when. */
  passOf(runId: string): PassSent | undefined {
    const active = this.#active.get(runId)
    if (!active?.sent) return undefined
    const { runnerId, sentAt } = active.sent
    return { runner: runnerId, passSentAt: sentAt, pass: active.passes ?? active.state.lastPass }
  }

  /** The steps of a run under way here that its runner reported as running. */
  runningOf(runId: string): readonly RunningStep[] | undefined {
    const active = this.#active.get(runId)
    return active?.running?.map((step, i) => ({ ...step, index: active.state.steps.size + i }))
  }

  /** For a unit that creates runs: leases those there is room for in the unit's own commit, so they start without a claim. */
  leaseAtCreation(): LeaseAtCreation {
    return new LeaseAtCreation(this.#creation)
  }

  /** Claims due runs as far as there is room for them. Each must be passed to `accept`. */
  async claim(claim: Claim): Promise<LoadedRun[]> {
    const bounds = this.#roomForClaims.claimBounds()
    let left: readonly LeftRun[] = []
    const onLeft = (runs: readonly LeftRun[]) => {
      left = runs
    }
    const claimed = await this.#deps.store.claimRuns({ ...claim, ...bounds, ...this.capacity.claimBounds(), onLeft })
    const runs = claimed.map(({ run }) => run)
    this.#roomForClaims.claimed(runs, bounds)
    this.capacity.claimed(runs.length, left)
    return claimed
  }

  /** Whether the last claim may have left due runs for lack of room. */
  get leavesDueRuns(): boolean {
    return this.capacity.isShort || this.#roomForClaims.isShort
  }

  /** Drives a run that the lane has claimed. `leasedAt`: before the claim, by the monotonic clock. */
  accept(claimed: LoadedRun, leasedAt: number): void {
    const active = this.#active.get(claimed.run.id)
    if (active && this.#goesOnUnder(active, claimed.run)) {
      active.leasedAt = leasedAt
      return
    }
    const state = RunState.claimed(claimed)
    this.capacity.acquire(claimed.run, state.size)
    this.#start(state, leasedAt)
  }

  /**
   * Whether the run's pass under way here goes on under the new lease: this engine claimed its own run, whose lease ran out
   * because the process stood still or a clock was set. A second pass would repeat the step in flight. The fence of the claim
   * makes the pass load the run before its next commit. Where other engines claim too, none may have had the run in between.
   */
  #goesOnUnder({ state }: ActiveRun, claimed: Run): boolean {
    const { owner, isShared } = this.#deps
    return state.run.leaseOwner === owner && (!isShared || claimed.fence === state.run.fence + 1)
  }

  /** Whether the run, or its next pass, could be sent now if a runner had room. */
  waitsForRunnerRoom(run: Run): boolean {
    if (run.leaseOwner !== undefined) return this.#queue.has(run.id)
    const isDue = (run.availableAt ?? Number.POSITIVE_INFINITY) <= this.#deps.clock.now()
    return isDue && run.status !== 'paused' && this.#queue.fullRunner(run) !== undefined
  }

  /** The size of the run's state, if the run waits for memory that this engine has not. */
  waitsForMemory(runId: string): number | undefined {
    return this.capacity.waitsForMemory(runId)
  }

  /** The runner may have room for more, or is gone. `isForPeer`: another engine gets the first of it. */
  runnerRoomChanged(url: string, isForPeer: boolean): void {
    if (isForPeer) this.#queue.reserveForPeer(url)
    this.#queue.roomChanged(url)
    this.#roomForClaims.roomChanged(url)
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
    this.#roomForClaims.stop()
    const abortAll = () => {
      for (const active of this.#active.values()) active.abort.abort()
    }
    deadline?.addEventListener('abort', abortAll)
    if (deadline?.aborted) abortAll()
    await this.capacity.waitUntilIdle()
    deadline?.removeEventListener('abort', abortAll)
  }

  /** A run with a reservation has begun: it was leased in the commit that created it. */
  #start(state: RunState, leasedAt: number, reservation?: Reservation): void {
    const { id } = state.run
    const active: ActiveRun = { state, bytes: state.size, leasedAt, abort: new Interrupt(), reservation }
    // A pass under an earlier lease can change nothing now: another engine had the run since.
    this.interrupt(id)
    this.#active.set(id, active)
    void this.#passes
      .drive(active, reservation !== undefined)
      .catch(error => this.#deps.log.error({ err: error, runId: id }, 'a run was dropped; its lease will run out'))
      .finally(() => {
        if (this.#active.get(id) === active) this.#active.delete(id)
        this.capacity.leave(active)
        for (const over of active.whenOver ?? []) over()
      })
  }

  /** Room for the first pass of a run that is being created. It does not go before the runs that wait in the store. */
  #reserveNew(run: Run): Reservation | 'none' | 'full' {
    if (this.#isDraining) return 'none'
    const reserved = this.#queue.tryReserve(run, NONE_TRIED)
    if (reserved === 'full') this.#roomForClaims.runWaits(run)
    else if (reserved !== 'none' && this.#roomForClaims.isContested(run)) {
      reserved.release()
      return 'full'
    }
    return reserved
  }

  #route(run: RunnersOfRun, tried: ReadonlySet<Runner>): Route {
    const { catalog, health, isLive, random, transport } = this.#deps
    return route({
      run,
      runners: catalog.view(run.namespace).runners(run.app),
      isLive,
      isAvoided: runner =>
        runner.hasLeft === true ||
        tried.has(runner) ||
        health.isAvoided(runner) ||
        transport.reaches?.(runner.url) === false,
      hasRoom: runner => this.#queue.hasRoom(runner.url),
      random: random.next(),
    })
  }
}
