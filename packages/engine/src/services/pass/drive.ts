// Journey 2: drives the runs this engine has leased, one pass after the other (architecture, "Journeys"). A pass is
// one invoke of a runner; its outcome becomes changes, the changes one commit, and only then comes the next pass.

import type { Logger } from 'pino'
import { TransientMap } from '../../collections/transient-map.ts'
import { isAheadOf, type Start, throttleToPass, waitsForThrottle } from '../../domain/holds/throttle.ts'
import type { Change } from '../../domain/model/change.ts'
import type { Decision, Next } from '../../domain/model/decision.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import { advance } from '../../domain/pass/advance.ts'
import { begin, giveBack, holdForRunner, waitForRunnerRoom } from '../../domain/pass/begin.ts'
import type { PassContext, PassReport, SentPass } from '../../domain/pass/opcodes/context.ts'
import { type Route, route } from '../../domain/pass/routing.ts'
import type { Assumptions } from '../../domain/run/assumptions.ts'
import { RunState } from '../../domain/run/state.ts'
import type { Clock, Random } from '../../ports/clock.ts'
import type { Limiter } from '../../ports/limiter.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { LoadedRun, Store } from '../../ports/store.ts'
import type { Tracing } from '../../ports/tracing.ts'
import type { Transport } from '../../ports/transport.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { RunnerHealth } from '../catalog/runner-health.ts'
import type { Announcer } from '../commit/announce.ts'
import { decideAndCommit } from '../commit/decide-and-commit.ts'
import { EngineCapacity } from '../support/engine-capacity.ts'
import { endRunSpan, startRunSpan, tellSteps } from '../support/spans.ts'
import { Checkpoints } from './checkpoint.ts'
import { Interrupt } from './interrupt.ts'
import { type Active, Invoker, NONE_TRIED } from './invoke.ts'
import { LeaseAtCreation, type LeaseAtCreationDeps } from './lease-at-creation.ts'
import { passLog } from './pass-log.ts'
import { type Reservation, RunnerQueue } from './runner-queue.ts'

/** A lease that is not extended runs out after this long, and any engine may claim the run. */
export const LEASE_MS = 15_000

export interface DriverDeps {
  store: Store
  limiter: Limiter
  catalog: Catalog
  transport: Transport
  health: RunnerHealth
  announcer: Announcer
  clock: Clock
  random: Random
  metrics: Metrics
  tracing?: Tracing | undefined
  log: Logger
  /** Name of this engine in the leases it holds. */
  owner: string
  /** Most runs under way at once. */
  passesMax: number
  /** Deadline of an invoke whose workflow sets none; each transport has its own when this is absent too. */
  invokeTimeoutMs?: number | undefined
  report: PassReport
  isLive(runner: Runner): boolean
}

export class Driver {
  readonly #deps: DriverDeps
  readonly #invoker: Invoker
  readonly #active = new TransientMap<string, Active>()
  readonly capacity: EngineCapacity
  readonly #line: RunnerQueue
  readonly #random: () => number
  readonly #admitting: LeaseAtCreationDeps
  #draining = false

  constructor(deps: DriverDeps) {
    this.#deps = deps
    this.capacity = new EngineCapacity(deps.passesMax)
    this.#random = () => deps.random.next()
    this.#admitting = {
      clock: deps.clock,
      leaseMs: LEASE_MS,
      owner: deps.owner,
      slots: this.capacity,
      seat: run => (this.#draining ? 'none' : this.#line.take(run, NONE_TRIED)),
      start: (run, seat) => this.#start(RunState.created(run), seat),
    }
    const { clock, transport } = deps
    this.#line = new RunnerQueue({
      clock,
      route: (run, tried) => this.#route(run, tried),
      room: url => transport.room?.(url),
      reaches: url => transport.reaches?.(url) !== false,
      wants: url => transport.requestRoom?.(url),
    })
    this.#invoker = new Invoker({ ...deps, line: this.#line, passLog: passLog(deps.clock, deps.log) })
  }

  /** Leases under way, for extension. */
  get leases(): Iterable<Active> {
    return this.#active.values()
  }

  /** The pass of a run that is under way here: where it was sent, and when. */
  passOf(runId: string): Active['sent'] {
    return this.#active.get(runId)?.sent
  }

  /** For a unit that creates runs: those there is room for are leased in its own commit and start without a claim. */
  admission(): LeaseAtCreation {
    return new LeaseAtCreation(this.#admitting)
  }

  /** Takes over a run the lane has claimed; its slot was taken before the claim. */
  take(loaded: LoadedRun): void {
    this.#start(RunState.claimed(loaded), undefined)
  }

  /** Whether the run waits here for room on a runner. */
  waitsForRunnerRoom(runId: string): boolean {
    return this.#line.has(runId)
  }

  /** The runner may have room for more, or is gone. `isLent`: the first of it is for another engine. */
  roomMoved(url: string, isLent: boolean): void {
    if (isLent) this.#line.lend(url)
    this.#line.look(url)
  }

  /** Somebody outside paused the run: if its pass waits for room, it is not sent. */
  recall(runId: string): void {
    this.#line.recall(runId)
  }

  /** Somebody outside changed the run for good, or its lease is gone: the invoke in flight is useless. */
  interrupt(runId: string): void {
    this.#active.get(runId)?.abort.abort()
  }

  /** No further pass is sent. Resolves when none is under way; at the deadline those left are aborted and given back. */
  async drain(deadline: AbortSignal): Promise<void> {
    this.#draining = true
    this.#line.recallAll()
    const abortAll = () => {
      for (const active of this.#active.values()) active.abort.abort()
    }
    deadline.addEventListener('abort', abortAll)
    if (deadline.aborted) abortAll()
    await this.capacity.idle()
    deadline.removeEventListener('abort', abortAll)
  }

  /** With a seat it has begun: it was leased in the commit that created it. */
  #start(state: RunState, seat: Reservation | undefined): void {
    const { id } = state.run
    const active: Active = { state, abort: new Interrupt(), seat }
    // Our own lease ran out under a stalled pass and we claimed the run again: the old pass can change nothing now.
    this.interrupt(id)
    this.#active.set(id, active)
    void this.#drive(active, seat !== undefined)
      .catch(error =>
        this.#deps.log.error({ err: error, runId: id }, 'a run was dropped; its lease will run out'),
      )
      .finally(() => {
        if (this.#active.get(id) === active) this.#active.delete(id)
        this.capacity.free()
      })
  }

  async #drive(active: Active, begun: boolean): Promise<void> {
    const { tracing, clock } = this.#deps
    active.span = tracing && startRunSpan(tracing, active.state.run, clock.now())
    try {
      let going = begun || (await this.#lineUp(active))
      while (going) going = await this.#pass(active)
    } finally {
      active.seat?.release()
      if (active.span) endRunSpan(active.span, active.state.run, clock.now())
    }
  }

  /** Waits for room queued, and begins when there is some; false when there is nothing to send. */
  async #lineUp(active: Active): Promise<boolean> {
    const { clock } = this.#deps
    const { run } = active.state
    const isToGo = run.status !== 'paused' && !run.cancelRequested && run.heldSlot === undefined
    const taken = isToGo ? this.#line.take(run, NONE_TRIED) : 'none'
    if (taken !== 'full') return this.#begin(active, taken)
    if (run.status !== 'queued' || run.waitingFor?.kind !== 'runner') {
      const decide = () => ({ decision: waitForRunnerRoom(active.state, clock.now()), next: 'stop' as const })
      if (!(await this.#settle(active, decide))) return false
    }
    const seated = await this.#line.wait(active.state.run, NONE_TRIED, active.abort.signal)
    return seated === 'left' ? this.#aborted(active) : this.#begin(active, seated)
  }

  /** From the lease to `running`; false when there is nothing to send. */
  async #begin(active: Active, seat: Reservation | 'none' = 'none'): Promise<boolean> {
    const { clock, catalog } = this.#deps
    if (seat !== 'none') active.seat = seat
    const start = await this.#askThrottle(active.state.run)
    const decided = await this.#settle(active, () => {
      const { run } = active.state
      const context = {
        now: clock.now(),
        route: this.#route(run, NONE_TRIED),
        catalog: catalog.view(run.namespace),
        start,
      }
      return begin(active.state, context)
    })
    if (decided?.next === 'stop') await this.#ringHeld(decided.decision.run)
    return decided?.next === 'pass'
  }

  /** A runner that arrived while this run was being held did not find it held yet: it is rung once more. */
  async #ringHeld(run: Run): Promise<void> {
    const { store, announcer, clock } = this.#deps
    const { namespace, app, waitingFor } = run
    if (waitingFor?.kind !== 'runner' || this.#route(run, NONE_TRIED).kind !== 'runner') return
    const change: Change = { type: 'app.runnerArrived', namespace, app, at: clock.now() }
    await store.commit({ guards: [], changes: [change] })
    announcer.announce([change])
  }

  /** The start of a throttled run that could go to a runner now, if it is free. A commit that is lost costs it. */
  async #askThrottle(run: Run): Promise<Start | undefined> {
    const { store, clock, limiter } = this.#deps
    const throttle = throttleToPass(run, clock.now())
    if (!throttle || this.#route(run, NONE_TRIED).kind !== 'runner') return undefined
    const { id, limit, periodMs, burst } = throttle
    // Who has just come does not overtake those in line. Should it miss one that lies down now, no more than that is lost.
    const first = waitsForThrottle(run) ? undefined : await store.in(run.namespace).firstInStartQueue(id)
    const take = first === undefined || isAheadOf(run, first)
    return limiter.start({ key: id, limit, periodMs, burst, take, now: clock.now() })
  }

  /** One pass and its commit; true when the next one follows at once. */
  async #pass(active: Active): Promise<boolean> {
    const { clock } = this.#deps
    if (this.#draining) return this.#stopWith(active, () => giveBack(active.state, clock.now()))
    if (this.#isLapsed(active.state.run) && !(await this.#renewLease(active.state.run))) return false
    const pass = sentNow(active.state, clock.now())
    let checkpoints: Checkpoints | undefined
    const outcome = await this.#invoker.invoke(active, pass.sentAt, payload => {
      checkpoints ??= this.#checkpoints(active, pass)
      return checkpoints.take(payload)
    })
    await checkpoints?.over()
    if (checkpoints?.hasEnded) return false
    if (outcome === 'held') return this.#stopWith(active, () => holdForRunner(active.state, clock.now()))
    if (outcome === 'aborted') return this.#aborted(active)
    const decided = await this.#settle(active, assumptions =>
      advance(active.state, outcome, this.#context(active.state.run, pass, assumptions)),
    )
    return decided?.next === 'pass'
  }

  /** Made when the first one comes: most passes have none. */
  #checkpoints(active: Active, pass: SentPass): Checkpoints {
    return new Checkpoints({
      active,
      pass,
      clock: this.#deps.clock,
      context: assumptions => this.#context(active.state.run, pass, assumptions),
      isDraining: () => this.#draining,
      onTaken: () => this.#deps.metrics.checkpointTaken(),
      settle: decide => this.#settle(active, decide),
    })
  }

  /** After a stall the lease may have run out, and the run be far ahead elsewhere: no pass is sent without a lease. */
  #isLapsed(run: Run): boolean {
    return this.#deps.clock.now() >= (run.availableAt ?? 0)
  }

  /** False when the run is another's by now. */
  async #renewLease(run: Run): Promise<boolean> {
    const { store, clock, metrics, owner } = this.#deps
    const until = clock.now() + LEASE_MS
    const lost = await store.extendRuns(owner, [run.id], until)
    if (lost.length === 0) run.availableAt = until
    else metrics.leaseLost()
    return lost.length === 0
  }

  /** Field by field: made for every commit of a pass, it would cost several times as much from a spread. */
  #context(run: Run, pass: SentPass, assumptions: Assumptions): PassContext {
    const { clock, catalog, report } = this.#deps
    return {
      sentAt: pass.sentAt,
      sentAttempt: pass.sentAttempt,
      knowledge: pass.knowledge,
      assumptions,
      now: clock.now(),
      random: this.#random,
      report,
      catalog: catalog.view(run.namespace),
    }
  }

  /** Cancelled from outside, lease lost, or out of time to drain. If the run is still ours, it says what to do. */
  async #aborted(active: Active): Promise<boolean> {
    if (!(await this.#reload(active))) return false
    if (this.#draining) return this.#stopWith(active, () => giveBack(active.state, this.#deps.clock.now()))
    active.abort = new Interrupt()
    return this.#begin(active)
  }

  async #stopWith(active: Active, decide: () => Decision): Promise<false> {
    await this.#settle(active, () => ({ decision: decide(), next: 'stop' }))
    return false
  }

  /** Makes a decision on the active run durable and announces it; undefined when the run is no longer ours. */
  async #settle<D extends { decision: Decision; next: Next }>(
    active: Active,
    decide: (assumptions: Assumptions) => D,
  ): Promise<D | undefined> {
    const { store, limiter, catalog, announcer } = this.#deps
    const admission = this.admission()
    try {
      const decided = await decideAndCommit<D>({
        store,
        limiter,
        catalog,
        decide,
        questions: ({ decision }) => decision.questions,
        unit: ({ decision }) => {
          admission.admit(decision.changes)
          return decision
        },
        onStale: () => this.#reload(active),
      })
      if (!decided) return undefined
      active.state.apply(decided.decision)
      this.#trace(active, decided.decision)
      announcer.announce(decided.decision.changes)
      admission.start()
      return decided
    } finally {
      admission.end()
    }
  }

  #trace({ span, passTrace }: Active, { steps }: Decision): void {
    const { tracing, clock } = this.#deps
    const parent = passTrace ?? span?.traceparent
    if (tracing && parent) tellSteps(tracing, steps, { parent, now: clock.now() })
  }

  /** Loads the run anew after a lost race. False when it has ended or another lease was given. */
  async #reload(active: Active): Promise<boolean> {
    const loaded = await this.#deps.store.loadRun(active.state.run.id)
    if (loaded?.run.leaseOwner !== this.#deps.owner) return false
    if (this.#active.get(loaded.run.id) !== active) return false
    active.state = RunState.loaded(loaded)
    return true
  }

  #route(run: Run, tried: ReadonlySet<Runner>): Route {
    const { catalog, health, isLive, random, transport } = this.#deps
    return route({
      run,
      runners: catalog.view(run.namespace).runners(run.app),
      isLive,
      isAvoided: runner =>
        tried.has(runner) || health.isAvoided(runner) || transport.reaches?.(runner.url) === false,
      hasRoom: runner => this.#line.hasRoom(runner.url),
      random: random.next(),
    })
  }
}

/** What the runner of a pass that is sent now is told: the memo. */
function sentNow({ run, settledCount, lastStepSeq }: RunState, now: number): SentPass {
  const told = { asOf: now, settled: settledCount, seq: lastStepSeq, hasMoved: false, stop: false }
  return { sentAt: now, sentAttempt: run.attempt, knowledge: told }
}
