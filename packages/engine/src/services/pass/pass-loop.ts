// Drives one leased run: takes a permit of a runner, begins the run, and sends one pass after the other until it parks or
// ends. A pass is one invoke; its outcome becomes changes, the changes one commit, and only then comes the next pass.

import { presentThrottle } from '../../domain/holds/operator-limits.ts'
import { type Start, throttleToPass, waitsForThrottle } from '../../domain/holds/throttle.ts'
import { timedOut } from '../../domain/holds/timeouts.ts'
import type { Change } from '../../domain/model/change.ts'
import type { Decision } from '../../domain/model/decision.ts'
import type { Run, Suspicion } from '../../domain/model/run.ts'
import type { Runner } from '../../domain/model/workflow.ts'
import { advance } from '../../domain/pass/advance.ts'
import type { Outcome, Reported } from '../../domain/pass/answer/outcome.ts'
import { begin, failCleanup, giveBack, holdForRunner, waitForRunnerRoom, waitForTurn } from '../../domain/pass/begin.ts'
import { cleanupContext } from '../../domain/pass/cleanup/followed.ts'
import type { PassContext, SentPass } from '../../domain/pass/opcodes/context.ts'
import type { PassOpcode } from '../../domain/pass/opcodes/opcode.ts'
import type { Route } from '../../domain/pass/routing.ts'
import { type Assumptions, noAssumptions } from '../../domain/run/assumptions.ts'
import type { RunState } from '../../domain/run/state.ts'
import type { Core } from '../commit/core.ts'
import { wakeThrottled } from '../commit/wake-throttled.ts'
import { KeyMutex } from '../support/key-mutex.ts'
import { endRunSpan, startRunSpan } from '../support/spans.ts'
import { type ActiveRun, deferProgress } from './active-run.ts'
import { isWithinBudgets } from './budget-check.ts'
import { Checkpoints } from './checkpoint.ts'
import { Interrupt } from './interrupt.ts'
import type { Invoker } from './invoke.ts'
import type { LateAnswers } from './late-answers.ts'
import { RUN_LEASE_MS } from './leases.ts'
import type { RunPermits } from './permits/run-permits.ts'
import { NONE_TRIED, type RunnerPermit } from './permits/runner-permits.ts'
import type { Settlement } from './settlement.ts'
import type { Suspects } from './suspects.ts'

export interface PassLoopDeps extends Core {
  permits: RunPermits
  invoker: Invoker
  settlement: Settlement
  suspects: Suspects
  late: LateAnswers
  route(run: Run, tried: ReadonlySet<Runner>): Route
  isDraining(): boolean
}

export class PassLoop {
  readonly #deps: PassLoopDeps
  readonly #random: () => number
  /** By throttle. */
  readonly #starts = new KeyMutex()

  constructor(deps: PassLoopDeps) {
    this.#deps = deps
    this.#random = () => deps.random.next()
  }

  /** Resolves when the run parks, ends, or belongs to another engine. `hasBegun`: it is `running` already. */
  async drive(active: ActiveRun, hasBegun: boolean): Promise<void> {
    const { tracing, clock } = this.#deps
    active.span = tracing && startRunSpan(tracing, active.state.run, clock.now())
    try {
      // Another engine was executing the run, or this one before a restart.
      const { status } = active.state.run
      if (!hasBegun && (status === 'running' || status === 'paused')) await this.#deps.settlement.withdrawLost(active)
      let hasNext = hasBegun || (await this.#admit(active))
      while (hasNext) hasNext = await this.#pass(active)
    } finally {
      releaseAnswer(active)
      active.runnerPermit?.giveBack()
      active.trial?.end()
      if (active.span) endRunSpan(active.span, active.state.run, clock.now())
    }
  }

  /** Begins the run, if a runner has room for it; false when no pass is to be sent. */
  async #admit(active: ActiveRun): Promise<boolean> {
    const { run } = active.state
    const isOver = run.cancelRequested || timedOut(run, this.#deps.clock.now()) !== undefined
    const needsRoom = run.status !== 'paused' && !isOver && !run.leasedWithoutSlots
    if (needsRoom && run.lastFailure?.suspicion) return this.#beginSuspect(active, run.lastFailure.suspicion)
    const permit = needsRoom ? this.#deps.permits.runners.tryTake(run, NONE_TRIED) : 'none'
    return permit === 'full' ? this.#leaveForRoom(active) : this.#begin(active, permit)
  }

  /** Begins the run on a runner that admits it, or makes it wait for its turn. */
  async #beginSuspect(active: ActiveRun, suspicion: Suspicion): Promise<boolean> {
    const { permits, suspects, catalog, clock, route } = this.#deps
    const { run } = active.state
    const suspect = { id: run.id, transportTries: run.transportTries, suspicion }
    const all = catalog.view(run.namespace).runners(run.app)
    const closed = new Set(all.filter(runner => !suspects.admits(runner, suspect)))
    const permit = permits.runners.tryTake(run, closed)
    if (permit === 'full') return this.#leaveForRoom(active)
    // There may be no runner at all besides the closed ones; `begin` finds that out.
    if (permit === 'none' && route(run, NONE_TRIED).kind === 'runner')
      return this.#stopWith(active, () => waitForTurn(active.state, clock.now(), suspects.wait(closed, suspect)))
    if (permit !== 'none') active.trial = suspects.begin(permit.runner, suspect)
    return this.#begin(active, permit)
  }

  /** Gives the lease back, so that the run waits in the store until a runner has room. */
  #leaveForRoom(active: ActiveRun, wasRefused = false): Promise<false> {
    const { clock, permits } = this.#deps
    // Called before the commit, which wakes the lane: the next claim must leave this run.
    permits.runWaits(active.state.run)
    return this.#stopWith(active, () => waitForRunnerRoom(active.state, clock.now(), { wasRefused }))
  }

  /** From the lease to `running`; false when no pass is to be sent. */
  async #begin(active: ActiveRun, permit: RunnerPermit | 'none' = 'none'): Promise<boolean> {
    const { clock, catalog, settlement, report, route } = this.#deps
    if (permit !== 'none') active.runnerPermit = permit
    const start = await this.#startOfThrottle(active.state.run)
    const decided = await settlement.settle(active, assumptions => {
      const { run } = active.state
      const context = {
        now: clock.now(),
        route: route(run, NONE_TRIED),
        catalog: catalog.view(run.namespace),
        assumptions,
        report,
        start,
      }
      return begin(active.state, context)
    })
    if (decided?.next === 'stop') await this.#wakeIfMissed(decided.decision.run, start)
    return decided?.next === 'pass'
  }

  /** Wakes a run that was held at the moment when the reason for the hold disappeared. */
  async #wakeIfMissed(run: Run, start: Start | undefined): Promise<void> {
    await this.#wakeIfRunnerArrived(run)
    if (start && waitsForThrottle(run) && start.limit !== this.#operatorThrottle(run))
      await wakeThrottled(this.#deps, run)
  }

  /**
   * A runner may have arrived while this run was being held for lack of one, so its wake-up missed the run: wakes the app
   * again.
   */
  async #wakeIfRunnerArrived(run: Run): Promise<void> {
    const { store, announcer, clock, route } = this.#deps
    const { namespace, app, waitingFor } = run
    // With a step, the run waits for a runner of its child's workflow, which may belong to any app: a runner of the run's own
    // app is no reason to wake it.
    if (waitingFor?.kind !== 'runner' || waitingFor.stepName !== undefined) return
    if (route(run, NONE_TRIED).kind !== 'runner') return
    const change: Change = { type: 'app.runnerArrived', namespace, app, at: clock.now() }
    await store.commit({ guards: [], changes: [change] })
    announcer.announce([change])
  }

  /**
   * Takes a start of the run's throttle, if the run could go to a runner now and the throttle has one. A commit that fails
   * afterwards loses the start.
   */
  async #startOfThrottle(run: Run): Promise<Start | undefined> {
    const { store, clock, limiter, route } = this.#deps
    const throttle = throttleToPass(run, clock.now())
    if (!throttle || route(run, NONE_TRIED).kind !== 'runner') return undefined
    const { id, limit: registered, periodMs, burst } = throttle
    const limit = this.#operatorThrottle(run)
    if (limit === 0) return { taken: false, freeAt: Number.POSITIVE_INFINITY, limit }
    // Starts that were taken under another limit do not delay those under this limit.
    const key = limit === undefined ? id : `${id}\n${limit}`
    // A run does not overtake those in the start queue, even if it was woken from there: the limiter may have refused an
    // earlier run, at another engine, a moment before the start came free. An earlier run that parks at this moment may be
    // missed: it only loses its place to this run. Runs take starts in the order of their leases, however long a read takes.
    const release = await this.#starts.acquire(id)
    try {
      const take = !(await store.in(run.namespace).isBehindStartQueue(id, run))
      const start = await limiter.start({ key, limit: limit ?? registered, periodMs, burst, take, now: clock.now() })
      return limit === undefined ? start : { ...start, limit }
    } finally {
      release()
    }
  }

  /** The limit that an operator has set for the run's throttle. */
  #operatorThrottle({ namespace, app, workflow }: Run): number | undefined {
    return presentThrottle(this.#deps.catalog.view(namespace).workflow(app, workflow))
  }

  /** One pass and its commit; true when the next one follows at once. */
  async #pass(active: ActiveRun): Promise<boolean> {
    const { clock, settlement, invoker, isDraining, permits } = this.#deps
    // Each lease has at least one pass, so that every run progresses.
    if (isDraining() || (active.passes !== undefined && permits.engine.mustLeave(active)))
      return this.#stopWith(active, () => giveBack(active.state, clock.now()))
    // After a stall the lease may have run out, and another engine may have continued the run: no pass is sent without a lease.
    const isLapsed = clock.elapsed() - active.leasedAt >= RUN_LEASE_MS
    if (isLapsed && !(await this.#renewLease(active))) return false
    if (!(await this.#followedIsRead(active))) return false
    if (!(await isWithinBudgets(this.#deps, active, { isUnderWay: false }))) return false
    // The state does not contain a pass that stored nothing.
    active.passes = Math.max(active.passes ?? 0, active.state.lastPass) + 1
    const pass: TimedPass = {
      ...sentNow(active.state, clock.now()),
      sentElapsed: clock.elapsed(),
      number: active.passes,
    }
    let checkpoints: Checkpoints | undefined
    const opened = () => {
      checkpoints ??= this.#checkpoints(active, pass)
      return checkpoints
    }
    const outcome = await invoker.invoke(active, pass.sentAt, {
      take: payload => opened().take(payload),
      takeOverHttp: payload => opened().takeOverHttp(payload),
      haveBegun: () => checkpoints !== undefined,
    })
    active.running = undefined
    await checkpoints?.over()
    if (active.late && (await this.#isLate(active, pass, outcome))) return false
    if (checkpoints?.hasEnded) return false
    if (outcome === 'full') return this.#leaveForRoom(active, true)
    if (outcome === 'held') return this.#stopWith(active, () => holdForRunner(active.state, clock.now()))
    if (outcome === 'aborted') return this.#aborted(active)
    const decided = await settlement.settle(
      active,
      assumptions => advance(active.state, outcome, this.#context(active, pass, assumptions)),
      { isLost: outcome.kind === 'transportFailed' },
    )
    if (active.releaseAnswer) releaseAnswer(active)
    // The run was ended a moment before the answer came.
    if (!decided && active.sent?.negotiated.cleanup) await this.#storeLate(active, pass, { outcome, isOver: true })
    deferProgress(active, outcome)
    return decided?.next === 'pass'
  }

  /**
   * Reads the run that a cleanup run follows, once. If that run is gone there is nothing to clean up: the cleanup run fails,
   * and this returns false.
   */
  async #followedIsRead(active: ActiveRun): Promise<boolean> {
    const { store, settlement, clock, catalog } = this.#deps
    const { cleanupOf, namespace } = active.state.run
    if (cleanupOf === undefined || active.followed !== undefined) return true
    const followed = await store.loadRun(cleanupOf)
    if (followed) active.followed = cleanupContext(followed)
    else {
      const fail = () => failCleanup(active.state, { now: clock.now(), catalog: catalog.view(namespace) })
      await settlement.settle(active, fail)
    }
    return followed !== undefined
  }

  /**
   * Whether the run was ended while the pass was under way. If so, the steps that the pass carried out are stored with it, and
   * undone.
   */
  async #isLate(active: ActiveRun, pass: TimedPass, outcome: Outcome | string): Promise<boolean> {
    const { late } = active
    const hasEnded = await late?.hasEnded
    late?.close()
    active.late = undefined
    if (hasEnded) await this.#storeLate(active, pass, { outcome, isOver: true })
    return hasEnded === true
  }

  async #storeLate(
    active: ActiveRun,
    pass: TimedPass,
    { outcome, isOver }: { outcome: Reported | Outcome | string; isOver: boolean },
  ): ReturnType<LateAnswers['store']> {
    const hasOpcodes = typeof outcome !== 'string' && 'opcodes' in outcome
    const opcodes = (hasOpcodes && outcome.opcodes) || []
    const report = { opcodes, isOver, counted: pass.counted }
    const stored = await this.#deps.late.store(active, report, now =>
      this.#context(active, pass, { ...noAssumptions(), now }),
    )
    noteCounted(pass, opcodes)
    return stored
  }

  /** Made when the first checkpoint comes: most passes have none. */
  #checkpoints(active: ActiveRun, pass: TimedPass): Checkpoints {
    const { clock, isDraining, permits, metrics, settlement, announcer } = this.#deps
    return new Checkpoints({
      active,
      pass,
      number: pass.number,
      streams: this.#deps,
      clock,
      hasToEnd: () => isDraining() || permits.engine.mustLeave(active),
      context: assumptions => this.#context(active, pass, assumptions),
      onStored: ({ opcodes }) => noteCounted(pass, opcodes),
      onTaken: () => {
        metrics.checkpointTaken()
        // Other runs no longer wait for a suspect that has progressed.
        if (!active.state.run.lastFailure?.suspicion) active.trial?.end()
      },
      onRunning: () => announcer.stepsRun(active.state, active.running?.at(-1)?.name, clock.now()),
      settle: decide => settlement.settle(active, decide),
      isWithinBudgets: () => isWithinBudgets(this.#deps, active, { isUnderWay: true }),
      storeLate: reported => this.#storeLate(active, pass, { outcome: reported, isOver: false }),
    })
  }

  /** Returns false when another engine has leased the run. */
  async #renewLease(active: ActiveRun): Promise<boolean> {
    const { store, clock, metrics, owner } = this.#deps
    const { run } = active.state
    const until = clock.now() + RUN_LEASE_MS
    const now = clock.elapsed()
    const lost = await store.extendRuns(owner, [run.id], until)
    if (lost.length === 0) {
      run.availableAt = until
      active.leasedAt = now
    } else metrics.leaseLost()
    return lost.length === 0
  }

  /** Copies field by field: this runs for every commit of a pass, and a spread costs several times as much. */
  #context({ state, sent, pendingProgress }: ActiveRun, pass: TimedPass, assumptions: Assumptions): PassContext {
    const { clock, catalog, report } = this.#deps
    assumptions.now ??= clock.now()
    return {
      sent: sent && { pass: pass.number, runner: sent.runnerId, passSentAt: sent.sentAt },
      sentAt: sentAt(pass, { now: assumptions.now, elapsed: clock.elapsed() }),
      sentAttempt: pass.sentAttempt,
      pendingProgress,
      knowledge: pass.knowledge,
      assumptions,
      now: assumptions.now,
      random: this.#random,
      report,
      catalog: catalog.view(state.run.namespace),
    }
  }

  /**
   * The pass was cancelled from outside, lost its lease, or ran out of time to drain. If the run still belongs to this engine,
   * its state decides.
   */
  async #aborted(active: ActiveRun): Promise<boolean> {
    const { clock, settlement, isDraining } = this.#deps
    if (!(await settlement.reload(active))) return false
    if (active.streams) await settlement.withdrawLost(active)
    if (isDraining()) return this.#stopWith(active, () => giveBack(active.state, clock.now(), { wasSent: true }))
    active.abort = new Interrupt()
    return this.#begin(active)
  }

  async #stopWith(active: ActiveRun, decide: () => Decision): Promise<false> {
    await this.#deps.settlement.settle(active, () => ({ decision: decide(), next: 'stop' }))
    return false
  }
}

interface TimedPass extends SentPass {
  /** When it was sent by the monotonic clock. */
  sentElapsed: number
  number: number
  /** Ids of steps whose spends were in a report of the pass: a runner may repeat its reports. */
  counted?: Set<string>
}

function noteCounted(pass: TimedPass, opcodes: readonly PassOpcode[]): void {
  for (const opcode of opcodes) {
    if (opcode.op !== 'StepRun' || !opcode.spent) continue
    pass.counted ??= new Set()
    pass.counted.add(opcode.id)
  }
}

function releaseAnswer(active: ActiveRun): void {
  active.releaseAnswer?.()
  active.releaseAnswer = undefined
}

/** A smaller difference between clocks is a correction, not a move. */
const MOVED_MS_MIN = 1000

/** When the pass was sent; by the present clock if the stored times were moved since (docs/decisions/0013-clocks.md). */
function sentAt({ sentAt, sentElapsed }: TimedPass, { now, elapsed }: { now: number; elapsed: number }): number {
  const moved = now - (elapsed - sentElapsed)
  return Math.abs(moved - sentAt) > MOVED_MS_MIN ? Math.floor(moved) : sentAt
}

/** A pass that is being sent: its runner knows the memo. */
function sentNow({ run, settledCount, lastStepSeq }: RunState, now: number): SentPass {
  const knowledge = {
    asOf: now,
    settled: settledCount,
    seq: lastStepSeq,
    wasSentSettled: false,
    stopRequested: false,
  }
  return { sentAt: now, sentAttempt: run.attempt, knowledge }
}
