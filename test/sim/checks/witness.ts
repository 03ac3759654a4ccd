// Observes the store from outside the engine. Whenever the engine is idle, the witness reads every run that a commit touched and
// compares it with the previous read. It checks answers of the interface at the next idle moment.

import type { Change, Unit } from '../../../packages/engine/src/domain/model/change.ts'
import { derivedFrames } from '../../../packages/engine/src/domain/view/timeline-frames.ts'
import type { Lane, Store } from '../../../packages/engine/src/ports/store.ts'
import type { Rng } from '../core/random.ts'
import type { SimClock } from '../core/sim-clock.ts'
import { ensure, same, Violation } from '../core/violation.ts'
import type { StoreTap } from '../ports/faulty-store.ts'
import type { Wall } from '../ports/life.ts'
import type { SendTap } from '../ports/sim-transport.ts'
import type { ControlCall, Journal, PostedCallback, PostedEvent, Settled } from '../workload/journal.ts'
import type { WorkflowSpec } from '../workload/program.ts'
import type { SimRunner } from '../workload/runner.ts'
import type { Pass, RunnerRecord } from '../workload/runner-record.ts'
import type { CheckpointAck } from '../workload/wire.ts'
import { LiveKeys } from './key-checks.ts'
import { checkKeptSlots } from './limits/slot-checks.ts'
import { isEnded, mayAnswerLate, newRecord, type RunRecord } from './record.ts'
import { checkReason, checkRunKept, checkRunWhole } from './run-checks.ts'
import { checkAck, checkAlone, checkSend, checkTimers } from './send-checks.ts'
import { checkStepsKept, checkStepsWhole } from './step-checks.ts'
import { type WrittenStream, WrittenStreams } from './stream-checks.ts'
import { checkTimelineWhole, checkTold, followTimeline } from './timeline-checks.ts'

export interface WitnessDeps {
  inner: Store
  clock: SimClock
  wall: Wall
  rng: Rng
  runnerRecord: RunnerRecord
  startedAt: number
  specs: readonly WorkflowSpec[]
  journal: Journal
}

export class Witness implements StoreTap, SendTap {
  readonly #deps: WitnessDeps
  readonly records = new Map<string, RunRecord>()
  /** The events committed so far. */
  readonly #events = new Set<string>()
  readonly #touched = new Set<string>()
  readonly #keys: LiveKeys
  /** Checks to make when the engine is next idle. */
  #pending: (() => void)[] = []
  /** The first violation. The simulation stops at it. */
  failure: Violation | undefined
  /** The output streams that steps have written to. */
  readonly streams = new WrittenStreams()
  /** Called for each stream when it is first written to. */
  onStream: (stream: WrittenStream) => void = () => {}
  /** How many rows each lane of each engine requested last. */
  readonly lastRequested = new Map<string, number>()

  constructor(deps: WitnessDeps) {
    this.#deps = deps
    this.#keys = new LiveKeys(deps.specs)
  }

  applied(unit: Unit): void {
    const { clock, wall } = this.#deps
    this.guard(() => this.#keys.applied(unit))
    const namespaceOf = (runId: string) => this.records.get(runId)?.namespace ?? ''
    for (const stream of this.streams.applied(unit, namespaceOf)) this.onStream(stream)
    for (const change of unit.changes) {
      if (change.type === 'event.recorded') this.#events.add(change.event.id)
      if (change.type === 'run.created') {
        const { namespace, id } = change.run
        if (!this.records.has(id))
          this.records.set(id, newRecord({ namespace, id, earlierEvents: new Set(this.#events), wall }))
        this.#touched.add(id)
      } else if (change.type === 'run.moved') {
        this.#touched.add(change.run.id)
        const record = this.records.get(change.run.id)
        if (record && change.run.status !== 'paused') {
          record.sentWhilePaused = 0
          record.wentOnWhilePaused = 0
        }
      } else if (change.type === 'step.recorded' || change.type === 'step.moved') {
        const { runId, index, timedOut } = change.step
        this.#touched.add(runId)
        if (timedOut) this.records.get(runId)?.timedOutAt.set(index, clock.now())
      }
      if (change.type === 'step.woken' || change.type === 'run.cancelRequested') this.#touched.add(change.runId)
    }
    this.#keepSentFrames(unit.changes)
  }

  #keepSentFrames(changes: readonly Change[]): void {
    for (const runId of this.#touched) {
      const frames = derivedFrames(changes, runId)
      if (frames) this.records.get(runId)?.sentFrames.push(...frames)
    }
  }

  claimedRuns(runs: readonly { id: string }[]): void {
    for (const { id } of runs) this.#touched.add(id)
  }

  requested(engine: number, lane: Lane, limit: number): void {
    this.lastRequested.set(`${engine} ${lane}`, limit)
  }

  /** Makes the next read cover all runs, not only the touched ones. */
  touchAll(): void {
    for (const id of this.records.keys()) this.#touched.add(id)
  }

  sent(pass: Pass, runner: SimRunner, underWay: Iterable<Pass>): void {
    this.guard(() => {
      const { runId } = pass.request.ctx
      const record = this.records.get(runId)
      ensure(record, 'only known runs are driven', () => runId, [runId])
      checkSend(record, pass, runner)
      checkAlone(pass, underWay)
      checkTimers(pass, this.#deps)
    })
  }

  acknowledged(pass: Pass, ack: CheckpointAck): void {
    this.guard(() => checkAck(this.records.get(pass.request.ctx.runId) as RunRecord, pass, ack))
  }

  /** Call it before the event is posted, and call the returned function with the answer. */
  expectWakes(namespace: string, eventName: string): (posted: PostedEvent) => void {
    const waiting = [...this.records.values()].flatMap(record => {
      const waits = record.steps.filter(step => step.status === 'waiting' && step.eventName === eventName)
      return record.namespace === namespace && waits.length > 0 ? [{ record, waits }] : []
    })
    return posted => {
      if (posted.reply?.deduped) return
      this.later(() => {
        for (const { record, waits } of waiting) {
          const asleep = waits.every(wait => record.steps[wait.index]?.status === 'waiting')
          ensure(
            isEnded(record.run) || record.run?.cancelRequested === true || !asleep,
            'an event acknowledged after a wait is durable wakes it',
            () => `${posted.token} (${eventName}) left ${record.id}#${waits[0]?.index} waiting`,
            [record.id, posted.token],
          )
        }
      })
    }
  }

  /** Compares the answer of a control action with the run. */
  controlled(call: ControlCall): void {
    this.later(() => {
      const status = this.records.get(call.runId)?.run?.status
      const detail = () => `${JSON.stringify(call)}: ${status}`
      const cancelled = call.action === 'cancel' && call.status === 200
      ensure(!cancelled || status === 'cancelled', 'a run whose cancel was acknowledged is cancelled', detail, [
        call.runId,
      ])
      const refused = call.errorCode === 'run_terminal'
      ensure(!refused || isEnded({ status: status ?? '' }), 'only a terminal run refuses', detail, [call.runId])
      const forked = call.status === 200 && (call.action === 'replay' || call.action === 'retry-from-step')
      const fork = this.records.get(call.answeredRunId ?? '')?.run
      ensure(!forked || fork?.replayOf === call.runId, 'an acknowledged fork exists', detail, [call.runId])
    })
  }

  /** Looks at the callback's step after the answer to its post. */
  calledBack(posted: PostedCallback): void {
    this.later(() => {
      const { clock, wall } = this.#deps
      const { run, steps = [] } = this.records.get(posted.runId) ?? {}
      const { timedOut, wakeAt = Infinity } = steps.find(({ id }) => id === posted.stepId) ?? {}
      const isOutOfTime = timedOut === true || wakeAt <= (wall.wasSet ? Number.MAX_VALUE : clock.now())
      posted.isOver = isEnded(run) || isOutOfTime
    })
  }

  /** Checks that a step whose settling was acknowledged has that end. */
  settled(settled: Settled): void {
    if (settled.status !== 200) return
    this.later(() => {
      const step = this.records.get(settled.runId)?.steps.find(({ id }) => id === settled.stepId)
      const detail = () => `${JSON.stringify(settled)}: ${JSON.stringify(step)}`
      ensure(step?.settledBy?.reason === settled.token, 'a step that was settled by hand has that end', detail, [
        settled.runId,
      ])
    })
  }

  /** Runs the check at the next idle moment. */
  later(check: () => void): void {
    this.#pending.push(check)
  }

  /** Runs a check. A violation ends the simulation. */
  guard(check: () => void): void {
    try {
      check()
    } catch (error) {
      this.fail(error)
    }
  }

  fail(error: unknown): void {
    this.failure ??=
      error instanceof Violation
        ? error
        : new Violation('the simulation works', (error as Error).stack ?? String(error))
  }

  /** Reads the touched runs and checks them. Called when the engine is idle. */
  async look(): Promise<void> {
    if (this.failure) throw this.failure
    if (this.#touched.size > 0) {
      const touched = [...this.#touched].map(id => this.records.get(id)).filter(record => record !== undefined)
      this.#touched.clear()
      for (const record of touched) await this.#read(record)
      for (const record of touched) {
        checkStepsWhole(record, this.#deps.runnerRecord)
        checkReason(record, runId => this.records.get(runId))
      }
      checkKeptSlots(this.records.values(), this.#deps.specs)
    }
    const pending = this.#pending
    this.#pending = []
    for (const check of pending) check()
  }

  #restartTimeline(record: RunRecord): void {
    ensure(mayAnswerLate(record.run), 'only a run that was cancelled gets steps after its end', () => record.id, [
      record.id,
    ])
    record.frames = []
    record.openFrom = 0
    record.lastTs = ''
  }

  async #read(record: RunRecord): Promise<void> {
    const { inner, clock, rng } = this.#deps
    const reads = inner.in(record.namespace)
    const run = await reads.run(record.id)
    ensure(run, 'a run that was committed exists', () => record.id, [record.id])
    const steps = await reads.steps(record.id)
    checkRunKept(record.run, run)
    checkRunWhole(run, record.wall)
    checkStepsKept(record.steps, steps, record.id)
    // A late step has a seq before the seq of the end, and a follower has already passed it.
    if (isEnded(record.run) && !same(record.steps, steps)) this.#restartTimeline(record)
    if (isEnded(run)) record.terminalSince ??= clock.now()
    record.run = run
    record.steps = steps
    // Not at every step, because a stream that opens late must read the same frames.
    if (!isEnded(run) && rng.chance(0.85)) return
    await followTimeline(record, reads, rng)
    checkTimelineWhole(record)
    checkTold(record)
  }
}
