// The driver keeps every run this engine has leased, from its lease until it parks or ends. It claims as many runs for the lane
// as there is room for; pass-loop.ts sends their passes.

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
import { Interrupt } from './interrupt.ts'
import { Invoker, type InvokerDeps } from './invoke.ts'
import { LateAnswers } from './late-answers.ts'
import { LeaseAtCreation, type LeaseAtCreationDeps } from './lease-at-creation.ts'
import { PassLoop } from './pass-loop.ts'
import type { EnginePermits, EnginePermitsOptions } from './permits/engine-permits.ts'
import type { MessagePermits } from './permits/message-permits.ts'
import { RunPermits } from './permits/run-permits.ts'
import type { RunnerPermit } from './permits/runner-permits.ts'
import { Settlement } from './settlement.ts'
import { StreamMerges } from './streams/stream-merges.ts'
import { Suspects, type SuspectsDeps } from './suspects.ts'

export interface DriverDeps
  extends Omit<InvokerDeps, 'runnerPermits' | 'suspects' | 'onTimeout'>,
    Pick<EnginePermitsOptions, 'passesMax' | 'stateBytesMax' | 'onRoom'> {
  isLive(runner: Runner): boolean
  hold: LeaseAtCreationDeps['hold']
  /** The memory permits for large messages from runners. */
  messages: MessagePermits
  /** Whether other engines work on the store too. */
  isShared: boolean
  bus: SuspectsDeps['bus']
}

export class Driver implements Stoppable {
  readonly #deps: DriverDeps
  readonly #active = new TransientMap<string, ActiveRun>()
  readonly #permits: RunPermits
  readonly #passes: PassLoop
  readonly #creation: LeaseAtCreationDeps
  readonly #late: LateAnswers
  readonly #merges: StreamMerges
  #isDraining = false

  constructor(deps: DriverDeps) {
    this.#deps = deps
    const { catalog, health, isLive, messages } = deps
    const route = (run: RunnersOfRun, tried: ReadonlySet<Runner>) => this.#route(run, tried)
    const permits = new RunPermits({
      ...deps,
      route,
      onReturn: () => messages.roomChanged(),
      runners: ({ namespace, app }) =>
        catalog
          .view(namespace)
          .runners(app)
          .filter(runner => isLive(runner) && !health.isAvoided(runner)),
    })
    this.#permits = permits
    messages.isExceeded = () => permits.engine.isExceeded
    this.#creation = {
      ...deps,
      permits,
      start: (run, permit, leasedAt) => this.#start(RunState.created(run), leasedAt, permit),
    }
    this.#late = new LateAnswers(deps)
    this.#merges = new StreamMerges(deps)
    const suspects = new Suspects({ ...deps, underWay: runner => deps.load.underWay(runner) })
    this.#passes = new PassLoop({
      ...deps,
      suspects,
      permits,
      route,
      late: this.#late,
      invoker: new Invoker({
        ...deps,
        suspects,
        runnerPermits: permits.runners,
        onTimeout: active => this.#late.begin(active),
      }),
      settlement: new Settlement({
        ...deps,
        leaseAtCreation: () => this.leaseAtCreation(),
        merges: this.#merges,
        onSize: active => permits.engine.resize(active),
        isCurrent: active => this.#active.get(active.state.run.id) === active,
      }),
      isDraining: () => this.#isDraining,
    })
  }

  /** The permits that this engine has for runs. */
  get permits(): EnginePermits {
    return this.#permits.engine
  }

  /** The runs under way, whose leases must be extended. */
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

  /** Where and when the pass of a run under way here was sent. */
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

  /**
   * For a unit that creates runs: leases as many of them as there is room for in the unit's own commit, so they start without a
   * claim.
   */
  leaseAtCreation(): LeaseAtCreation {
    return new LeaseAtCreation(this.#creation)
  }

  /** Claims as many due runs as there is room for. Each must be passed to `accept`. */
  async claim(claim: Claim): Promise<LoadedRun[]> {
    const bounds = this.#permits.claimBounds()
    let left: readonly LeftRun[] = []
    const onLeft = (runs: readonly LeftRun[]) => {
      left = runs
    }
    const claimed = await this.#deps.store.claimRuns({ ...claim, ...bounds, onLeft })
    const runs = claimed.map(({ run }) => run)
    this.#permits.claimed(runs, { bounds, left })
    return claimed
  }

  /** Whether the last claim may have left due runs for lack of room. */
  get leavesDueRuns(): boolean {
    return this.#permits.isShort
  }

  /** Drives a run that the lane has claimed. `leasedAt`: before the claim, by the monotonic clock. */
  accept(claimed: LoadedRun, leasedAt: number): void {
    const active = this.#active.get(claimed.run.id)
    if (active && this.#goesOnUnder(active, claimed.run)) {
      active.leasedAt = leasedAt
      return
    }
    // The request to cancel a run makes it due: the lane may have claimed it before its pass was cancelled.
    if (active?.mayAnswerLate && claimed.run.cancelRequested) {
      this.#late.begin(active)
      return
    }
    const state = RunState.claimed(claimed)
    this.permits.take(claimed.run, state.size)
    this.#start(state, leasedAt)
  }

  /**
   * Whether the run's pass under way here continues under the new lease: this engine claimed its own run, whose lease ran out
   * because the process stood still or a clock was set. A second pass would repeat the step in flight. The fence of the claim
   * makes the pass load the run before its next commit. If other engines claim too, none of them may have leased the run in
   * between.
   */
  #goesOnUnder({ state }: ActiveRun, claimed: Run): boolean {
    const { owner, isShared } = this.#deps
    return state.run.leaseOwner === owner && (!isShared || claimed.fence === state.run.fence + 1)
  }

  /** Whether the run, or its next pass, could be sent now if a runner had room. */
  waitsForRunnerRoom(run: Run): boolean {
    return this.#permits.waitsForRunnerRoom(run)
  }

  /** The size of the run's state, if the run waits for memory of this engine. */
  waitsForMemory(runId: string): number | undefined {
    return this.permits.waitsForMemory(runId)
  }

  /** The runner may have room for more, or is gone. `isForPeer`: another engine gets the first room. */
  runnerRoomChanged(url: string, isForPeer: boolean): void {
    this.#permits.runnerRoomChanged(url, isForPeer)
  }

  /** Takes the run's pass out of the queue for runner room, if it waits there. Called when the run was paused. */
  withdraw(runId: string): void {
    this.#permits.runners.withdraw(runId)
  }

  /**
   * Aborts the invoke in flight, at once or after the time for a late answer. Called when an outsider ended the run or is about
   * to, and when the lease of the run is lost.
   */
  interrupt(runId: string): void {
    const active = this.#active.get(runId)
    if (active?.mayAnswerLate) this.#late.begin(active)
    else active?.abort.abort()
  }

  /** Aborts the invoke in flight of a run whose lease was taken away. It may be claimed here again before its pass has ended. */
  giveUp(runId: string): void {
    const active = this.#active.get(runId)
    this.#active.delete(runId)
    active?.abort.abort()
  }

  /** Sends no further pass. Resolves when no pass is under way; at the deadline it aborts the rest and gives the runs back. */
  async stop(deadline?: AbortSignal): Promise<void> {
    this.#isDraining = true
    this.#permits.stop()
    const abortAll = () => {
      for (const active of this.#active.values()) active.abort.abort()
    }
    deadline?.addEventListener('abort', abortAll)
    if (deadline?.aborted) abortAll()
    await this.permits.waitUntilIdle()
    deadline?.removeEventListener('abort', abortAll)
    this.#merges.stop()
  }

  /** Starts to drive a run. If it has a permit of a runner, it has already begun: it was leased in the commit that created it. */
  #start(state: RunState, leasedAt: number, runnerPermit?: RunnerPermit): void {
    const { id } = state.run
    const active: ActiveRun = { state, bytes: state.size, leasedAt, abort: new Interrupt(), runnerPermit }
    // A pass under an earlier lease can change nothing now: another engine has had the run since.
    this.#active.get(id)?.abort.abort()
    this.#active.set(id, active)
    void this.#passes
      .drive(active, runnerPermit !== undefined)
      .catch(error => this.#deps.log.error({ err: error, runId: id }, 'a run was dropped; its lease will run out'))
      .finally(() => {
        if (this.#active.get(id) === active) this.#active.delete(id)
        this.permits.leave(active)
        for (const over of active.whenOver ?? []) over()
      })
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
      hasRoom: runner => this.#permits.runners.hasRoom(runner.url),
      random: random.next(),
    })
  }
}
