// The rows of one run as a store keeps them: it applies changes as `model/change.ts` specifies. For tests that follow a run
// over decisions of several parties.

import type { Change, Guard, Unit } from '../model/change.ts'
import { isTerminal, type Run } from '../model/run.ts'
import { firstSeq } from '../model/seq.ts'
import type { Step, StepWoken } from '../model/step.ts'
import { RunState } from '../run/state.ts'
import { frozen } from './frozen.testkit.ts'

export class Rows {
  run: Run
  readonly steps: Step[] = []
  /** Seqs of all frames, in commit order. */
  readonly seqs: number[] = [firstSeq(0)]
  #rootLogged = 0

  constructor(run: Run) {
    this.run = run
  }

  /** Writes the unit. False, without writing, when the run has changed since the unit was decided. */
  commit({ guards, changes }: Unit): boolean {
    frozen(changes)
    if (guards.some(guard => this.#isStale(guard))) return false
    const seqs = changes.flatMap(change => this.#write(change)).sort((a, b) => a - b)
    this.seqs.push(...seqs)
    return true
  }

  claim(owner: string, leaseUntil: number): RunState {
    this.run = { ...this.run, fence: this.run.fence + 1, leaseOwner: owner, availableAt: leaseUntil }
    return RunState.claimed(this.#loaded())
  }

  load(): RunState {
    return RunState.loaded(this.#loaded())
  }

  #isStale(guard: Guard): boolean {
    if (guard.type === 'run') return guard.fence !== this.run.fence
    return guard.type === 'steps' && this.steps.some(({ seq }) => seq > guard.seq)
  }

  #loaded() {
    return frozen({
      run: { ...this.run },
      steps: this.steps.map(step => ({ ...step })),
      rootLogged: this.#rootLogged,
    })
  }

  #write(change: Change): number[] {
    switch (change.type) {
      case 'run.moved':
        return this.#moveRun(change)
      case 'step.recorded':
      case 'step.moved':
        this.steps[change.step.index] = change.step
        return [change.step.seq]
      case 'log.written':
        if (change.line.scope === '@root') this.#rootLogged = change.line.index + 1
        return [change.line.seq]
      case 'step.woken':
        return change.runId === this.run.id ? this.#wake(change) : []
      case 'run.cancelRequested':
        if (change.runId === this.run.id && !isTerminal(this.run.status))
          this.run = { ...this.run, fence: this.run.fence + 1, cancelRequested: true, availableAt: change.at }
        return []
      default:
        return []
    }
  }

  #moveRun({ run, frames }: Extract<Change, { type: 'run.moved' }>): number[] {
    const { startedSeq, finishedSeq } = this.run
    this.run = { ...run }
    const seqs = frames.map(({ seq }) => seq)
    if (run.startedSeq !== undefined && startedSeq === undefined) seqs.push(run.startedSeq)
    if (run.finishedSeq !== undefined && finishedSeq === undefined) seqs.push(run.finishedSeq)
    return seqs
  }

  #wake({ stepIndex, status, data, error, eventId, at }: StepWoken): number[] {
    const step = this.steps[stepIndex]
    if (step?.status !== 'waiting' || isTerminal(this.run.status)) return []
    const fence = this.run.fence + 1
    const seq = firstSeq(fence)
    this.steps[stepIndex] = { ...step, status, seq, finishedAt: at, data, error, eventId }
    this.run = { ...this.run, fence }
    if (this.run.status !== 'waiting') return [seq]
    this.run = { ...this.run, status: 'queued', availableAt: at, waitingFor: undefined }
    return [seq, seq + 1]
  }
}
