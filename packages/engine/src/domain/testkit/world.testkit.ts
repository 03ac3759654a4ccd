// One engine that drives a run, and outsiders that interfere, over the rows of `rows.testkit.ts`. After every commit the
// invariants are checked: settled steps stay settled, seqs rise, and a run without a lease has a reason to wake.

import { expect } from 'vitest'
import type { Decision, Next } from '../model/decision.ts'
import { isTerminal } from '../model/run.ts'
import { isSettled } from '../model/step.ts'
import { advance } from '../pass/advance.ts'
import type { Outcome, Reported } from '../pass/answer/outcome.ts'
import { begin } from '../pass/begin.ts'
import { checkpoint } from '../pass/checkpoint.ts'
import type { PassContext, SentPass } from '../pass/opcodes/context.ts'
import { noAssumptions } from '../run/assumptions.ts'
import { cancel, pause, resume } from '../run/control.ts'
import type { RunState } from '../run/state.ts'
import { toRunner } from './given.testkit.ts'
import { catalog, idleRun, NOW, workflow } from './nouns.testkit.ts'
import { Rows } from './rows.testkit.ts'

const registered = catalog(workflow('order', { onFailure: true }), workflow('pack'))
const fresh = { fence: 0, startedAt: undefined, startedSeq: undefined }

/** An action of an outsider on the run. */
export type Control = 'cancel' | 'pause' | 'resume'

export class World {
  readonly rows = new Rows(idleRun('queued', fresh))
  #now = NOW
  /** The run and the pass of the present lease. */
  #leased: { state: RunState; pass: SentPass } | undefined
  #seen = this.#snapshot()

  later(ms: number): void {
    this.#now += ms
  }

  /** The engine waits until the run is due, claims it, and sends the first pass. */
  lease(route: 'runner' | 'none'): void {
    const { availableAt } = this.rows.run
    if (this.#leased || availableAt === undefined) return
    this.#now = Math.max(this.#now, availableAt)
    const state = this.rows.claim('engine-1', this.#now + 15_000)
    this.#leased = { state, pass: this.#sent(state) }
    const to = route === 'runner' ? toRunner : { kind: 'none' as const }
    this.#decide(state =>
      begin(state, { now: this.#now, route: to, catalog: registered, assumptions: noAssumptions(), report: () => {} }),
    )
  }

  answer(outcome: Outcome, random: number): void {
    if (!this.#leased) return
    const { pass } = this.#leased
    this.#decide(state => advance(state, outcome, this.#context(pass, random)))
  }

  /** The pass reports a checkpoint and continues. */
  checkpoint(reported: Reported, random: number): void {
    if (!this.#leased) return
    const { pass } = this.#leased
    this.#decide(state => checkpoint(state, reported, this.#context(pass, random)), true)
  }

  letGo(decide: (state: RunState, now: number) => Decision): void {
    this.#decide(state => ({ decision: decide(state, this.#now), next: 'stop' }))
  }

  /** The engine dies; its lease runs out later. */
  crash(): void {
    this.#leased = undefined
  }

  outsider(control: Control): void {
    const decision = this.#control(control)
    if (decision) expect(this.rows.commit(decision)).toBe(true)
    this.#check()
  }

  /** An outsider decides, and commits only after `meanwhile`. */
  overtaken(control: Control, meanwhile: (world: World) => void): void {
    const decision = this.#control(control)
    meanwhile(this)
    if (decision) this.rows.commit(decision)
    this.#check()
  }

  /** Settles a parked step from outside: an event arrives, or a child ends. */
  wake(stepIndex: number): void {
    const woken = {
      runId: this.rows.run.id,
      stepIndex,
      status: 'succeeded',
      data: '1',
      at: this.#now,
    } as const
    const { op } = this.rows.steps[stepIndex] ?? {}
    if (op !== 'WaitForEvent' && op !== 'RunWorkflow') return
    this.rows.commit({ guards: [], changes: [{ type: 'step.woken', ...woken }] })
    this.#check()
  }

  /** The parent of the run ends. */
  requestCancel(): void {
    const { id } = this.rows.run
    this.rows.commit({ guards: [], changes: [{ type: 'run.cancelRequested', runId: id, at: this.#now }] })
  }

  #control(control: Control): Decision | undefined {
    const state = this.rows.load()
    if (isTerminal(state.run.status)) return undefined
    if (control === 'cancel') return cancel(state, { now: this.#now, catalog: registered })
    if (control === 'pause') return pause(state, this.#now)
    return state.run.status === 'paused' ? resume(state, this.#now) : undefined
  }

  /** Decides and commits like services/pass/pass-loop: again on fresh rows when the first commit is stale. */
  #decide(decide: (state: RunState) => { decision: Decision; next: Next }, isCheckpoint = false): void {
    const leased = this.#leased
    if (!leased) return
    let decided = decide(leased.state)
    if (!this.rows.commit(decided.decision)) {
      leased.state = this.rows.load()
      if (leased.state.run.leaseOwner !== 'engine-1') {
        this.#leased = undefined
        return
      }
      decided = decide(leased.state)
      expect(this.rows.commit(decided.decision)).toBe(true)
    }
    leased.state.apply(decided.decision)
    if (isCheckpoint)
      leased.pass.knowledge = {
        ...this.#sent(leased.state).knowledge,
        wasSentSettled: true,
        stopRequested: this.#isPaused,
      }
    else leased.pass = this.#sent(leased.state)
    if (decided.next === 'stop') this.#leased = undefined
    else if (!isCheckpoint || !this.#isPaused) expect(this.rows.run.status).toBe('running')
    this.#check()
    if (decided.next === 'stop') this.#expectReasonToWake()
  }

  get #isPaused(): boolean {
    return this.rows.run.status === 'paused'
  }

  #sent({ run, settledCount, lastStepSeq }: RunState): SentPass {
    const knowledge = {
      asOf: this.#now,
      settled: settledCount,
      seq: lastStepSeq,
      wasSentSettled: false,
      stopRequested: false,
    }
    return { sentAt: this.#now, sentAttempt: run.attempt, knowledge }
  }

  #context(pass: SentPass, random: number): PassContext {
    const rest = { catalog: registered, assumptions: noAssumptions(), random: () => random, report: () => {} }
    return { ...pass, now: this.#now, ...rest }
  }

  #expectReasonToWake(): void {
    const { run, steps } = this.rows
    const outsiders = steps.some(
      ({ status, op }) => status === 'waiting' && (op === 'WaitForEvent' || op === 'RunWorkflow'),
    )
    const atRest = isTerminal(run.status) || run.status === 'paused'
    expect(atRest || run.availableAt !== undefined || outsiders).toBe(true)
    expect(run.leaseOwner).toBeUndefined()
    if (run.cancelRequested) expect(run.availableAt).toBeLessThanOrEqual(this.#now)
  }

  #check(): void {
    const { seqs, steps, run } = this.rows
    expect(seqs.every((seq, i) => i === 0 || seq > (seqs[i - 1] as number))).toBe(true)
    expect(steps.every(({ index }, i) => index === i)).toBe(true)
    const before = this.#seen
    this.#seen = this.#snapshot()
    if (before.terminal) expect(this.#seen.terminal).toEqual(before.terminal)
    for (const step of before.settled) expect(steps[step.index]).toEqual(step)
    if (isTerminal(run.status)) expect(steps.every(({ status }) => isSettled(status))).toBe(true)
  }

  #snapshot() {
    const { run, steps } = this.rows
    return {
      terminal: isTerminal(run.status) ? { ...run } : undefined,
      settled: steps.filter(({ status }) => isSettled(status)),
    }
  }
}
