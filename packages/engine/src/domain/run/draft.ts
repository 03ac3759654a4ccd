// Collects a decision about one run. Every status move passes through here, so none can forget its frame; every decision has
// its guards; and seqs are assigned in commit order:
//
// Each fence owns a range of seqs (model/seq). An owner keeps counting within its fence, and leaves the run's row alone until
// the row changes; then the fence rises too. A decision on a freshly loaded run bumps the fence at once, which opens an unused
// range and makes the owner's next commit stale. Its guards in turn check that neither the row nor, within one fence, the steps
// have changed since they were loaded.

import type { RunError } from '@perdure/protocol'
import type { Start } from '../holds/throttle.ts'
import { hasSentTurn, isAtLimit, poolOf } from '../holds/turns.ts'
import { type Attributes, attributeTexts } from '../model/attributes.ts'
import { isCounted, type Sums } from '../model/budget/budget.ts'
import { NOTHING_SPENT, plus, sumOf } from '../model/budget/sum.ts'
import type { Change, Guard, RunStatusFrame } from '../model/change.ts'
import type { Decision, Question } from '../model/decision.ts'
import type { LogLine } from '../model/log-line.ts'
import { isTerminal, type Run, type RunStatus } from '../model/run.ts'
import { firstSeq, SEQ_SPAN } from '../model/seq.ts'
import { isSettled, type LimitOfStep, type PassSent, type Step } from '../model/step.ts'
import type { JsonText } from '../text/json-text.ts'
import { LATE_ANSWER_MS } from './cleanup/late-window.ts'
import { conclude } from './conclusion.ts'
import type { RunState } from './state.ts'

export class Draft {
  readonly now: number
  /** The run as it was before the decision. */
  readonly state: RunState
  readonly questions: Question[] = []
  readonly guards: Guard[] = []
  readonly changes: Change[] = []
  readonly steps: Step[] = []
  rootLogged: number
  /** Index of the next recorded step; indexes are dense. */
  nextIndex: number
  #seq: number
  /** The state's own object until the draft changes it: most passes do not. */
  #run: Run
  #moved = false
  #started = false
  readonly #before: Readonly<Run>
  /** The pass whose report is being decided. */
  pass: PassSent | undefined
  /** The seq of the last step that the runner of the pass knew; only for a run with delivered events. */
  knew: number | undefined
  /** Whether no pass of the run is under way that could still start a step. */
  isPassOver = false
  /** The limiter's answer to a run that needed a start from its throttle. */
  start: Start | undefined
  /** Children that may continue although their steps were settled by hand. */
  readonly abandonedChildren: readonly string[]
  /** The state's own map until a step changes. */
  #open: ReadonlyMap<string, Step>
  #ownOpen: Map<string, Step> | undefined
  readonly #frames: RunStatusFrame[] = []
  #spent: Sums | undefined
  /** Pools whose turns the decision changes. */
  #pools: Set<string> | undefined
  /** Whether the run has a step that can be undone, including drafted ones. */
  hasRollback: boolean

  constructor(state: RunState, now: number) {
    this.now = now
    this.state = state
    this.guards.push({ type: 'run', runId: state.run.id, fence: state.run.fence })
    this.#run = state.run
    this.#open = state.open
    this.abandonedChildren = state.abandonedChildren
    this.rootLogged = state.rootLogged
    this.hasRollback = state.hasRollback
    this.nextIndex = state.steps.size
    this.#seq = state.seq ?? 0
    this.#before = state.run
    if (state.seq !== undefined) return
    this.guards.push({ type: 'steps', runId: state.run.id, seq: state.lastStepSeq })
    this.#bumpFence()
  }

  /** The run as drafted. Change plain fields through `set`, the status through `move`. */
  get run(): Readonly<Run> {
    return this.#run
  }

  /** Unsettled steps, including drafted ones. */
  get open(): ReadonlyMap<string, Step> {
    return this.#open
  }

  /** Changes fields of the run's row that appear in no frame. */
  set(fields: Partial<Omit<Run, 'status' | 'fence'>>): void {
    Object.assign(this.#moving(), fields)
  }

  /** Replaces the attributes of the run. */
  setAttributes(attributes: Attributes): void {
    const { namespace, id: runId } = this.run
    const before = new Set(attributeTexts(this.run.attributes))
    const after = attributeTexts(attributes)
    const added = after.filter(text => !before.delete(text))
    const isEmpty = after.length === 0
    this.#moving().attributes = isEmpty ? undefined : attributes
    this.changes.push({
      type: 'run.attributed',
      namespace,
      runId,
      ...(isEmpty ? {} : { attributes }),
      added,
      removed: [...before],
    })
  }

  /** Gives the run a newer progress, in a separate frame. Nothing else in the row changes, so the fence stays. */
  setProgress(value: JsonText): void {
    const progress = { value, at: this.now, seq: this.nextSeq() }
    this.#run = { ...this.#run, progress }
    this.changes.push({ type: 'run.progressed', run: this.#run, progress })
  }

  /**
   * Moves the run to a status; no effect if the run already has it. The first start and the end need no frame: the row has
   * their seqs.
   */
  move(status: RunStatus, error?: RunError): void {
    if (this.#run.status === status) return
    const run = this.#moving()
    run.status = status
    const seq = this.nextSeq()
    if (status === 'running' && run.startedAt === undefined) {
      run.startedAt = this.now
      run.startedSeq = seq
      this.#started = true
    } else if (isTerminal(status)) {
      run.finishedAt = this.now
      run.finishedSeq = seq
    } else this.#frames.push({ seq, ts: this.now, status, attempt: run.attempt, ...(error && { error, ...this.pass }) })
  }

  /** Records a new step. The draft owns the object from then on. */
  record(step: Omit<Step, 'runId' | 'seq' | 'index'>): Step {
    const recorded = step as Step
    recorded.runId = this.run.id
    recorded.index = this.nextIndex++
    recorded.seq = this.nextSeq()
    if (this.pass) stampPass(recorded, this.pass)
    this.#keep(recorded)
    this.#add('steps', 1)
    this.changes.push({ type: 'step.recorded', step: recorded, at: this.now })
    return recorded
  }

  /**
   * Changes an unsettled step, or a failed one whose tries begin again; in a run that has ended, a cancelled one. `startedAt`:
   * the latest time at which the step used its turn, if it is known.
   */
  moveStep(step: Step, fields: Partial<Step>, startedAt?: number): Step {
    const moved = { ...step, ...fields, seq: this.nextSeq() }
    if (isAtLimit(step) && moved.status !== 'waiting') {
      this.endTurn(step, startedAt)
      moved.turnAt = undefined
    }
    this.#keep(moved)
    const late = isTerminal(this.#before.status) ? { isLate: true as const } : {}
    this.changes.push({ type: 'step.moved', step: moved, at: this.now, ...late })
    return moved
  }

  /** Makes a step wait for its turn. */
  askTurn({ index, limit }: Step): void {
    const pool = poolOf(this.run, limit as LimitOfStep)
    this.changes.push({ type: 'turn.asked', pool, runId: this.run.id, stepIndex: index, at: this.now })
    this.#grantsIn(pool.id)
  }

  /**
   * Records that the callback of the step, which has its turn, started: at `startedAt` at the latest, and not before its pass
   * could be sent.
   */
  startTurn({ index, limit, nextAttemptAt = 0 }: Step, startedAt: number): void {
    const latest = Math.max(startedAt, nextAttemptAt)
    this.changes.push({ type: 'turn.started', runId: this.run.id, stepIndex: index, startedAt: latest })
    this.#grantsIn(poolOf(this.run, limit as LimitOfStep).id)
  }

  /**
   * Takes away the turn of the step, or its place in the queue. A turn that a pass had counts from `startedAt`; by default from
   * the latest time at which a pass may notice the end of its run.
   */
  endTurn(step: Step, startedAt = this.isPassOver ? this.now : this.now + LATE_ANSWER_MS): void {
    if (hasSentTurn(step)) {
      this.startTurn(step, startedAt)
      return
    }
    this.leaveTurn(step)
  }

  /** Takes away a turn that the step has not used, or its place in the queue. */
  leaveTurn({ index, limit }: Step): void {
    this.changes.push({ type: 'turn.left', runId: this.run.id, stepIndex: index })
    this.#grantsIn(poolOf(this.run, limit as LimitOfStep).id)
  }

  #grantsIn(poolId: string): void {
    this.#pools ??= new Set()
    this.#pools.add(poolId)
  }

  /** Gives the turns of a paused run without a lease to others until it is resumed. */
  #holdTurns(): void {
    const wasPaused = this.#before.status === 'paused'
    const isPaused = this.run.status === 'paused'
    if (!(wasPaused || isPaused)) return
    const isHeld = isPaused && this.run.leaseOwner === undefined
    const steps = [...this.#open.values()].filter(isAtLimit)
    if (steps.length === 0 || isTerminal(this.run.status) || (isPaused && !isHeld)) return
    for (const step of steps) {
      this.#grantsIn(poolOf(this.run, step.limit as LimitOfStep).id)
      if (isHeld && step.turnAt !== undefined) this.moveStep(step, { turnAt: undefined, nextAttemptAt: undefined })
    }
    this.changes.push({ type: 'turns.held', runId: this.run.id, isHeld })
  }

  /** Adds the amounts that an attempt of a step reported to the budgets of the run. The engine counts some names itself. */
  spend(amounts: Readonly<Record<string, number>>): void {
    for (const [name, amount] of Object.entries(amounts)) if (!isCounted(name)) this.#add(name, amount)
  }

  #add(name: string, amount: number): void {
    if (!this.#before.budgets) return
    this.#spent ??= {}
    this.#spent[name] = plus(this.#spent[name] ?? NOTHING_SPENT, sumOf(amount))
  }

  log(line: Omit<LogLine, 'runId' | 'seq' | 'ts'>): void {
    const seq = this.nextSeq()
    this.changes.push({ type: 'log.written', line: { ...line, runId: this.run.id, seq, ts: this.now } })
  }

  /** The last assigned seq. */
  get lastSeq(): number {
    return this.#seq
  }

  /** Reserves this many seqs, for steps that are stored later. */
  skipSeqs(count: number): void {
    if ((this.#seq % SEQ_SPAN) + count >= SEQ_SPAN - 1) this.#bumpFence()
    this.#seq += count
  }

  nextSeq(): number {
    if (this.#seq % SEQ_SPAN === SEQ_SPAN - 1) this.#bumpFence()
    return ++this.#seq
  }

  /** Returns the finished decision. Call it once, last. The run's row is written only if the decision changed it. */
  done(): Decision {
    this.#holdTurns()
    const { fields, changes: wakes } = conclude(this.#before, this.#run, { now: this.now, start: this.start })
    if (Object.keys(fields).length > 0) this.set(fields)
    this.changes.push(...wakes)
    if (this.#spent) this.changes.push({ type: 'budget.spent', budgetIds: this.#budgetIds(), sums: this.#spent })
    if (this.#moved && this.pass)
      this.#moving().lastPass = this.knew === undefined ? this.pass : { ...this.pass, knew: this.knew }
    if (this.#moved && this.run.fence === this.#before.fence) this.#bumpFence()
    if (this.#moved) this.changes.unshift(this.#runMoved())
    // This is last, because a grant makes a run due that the decision has parked.
    for (const poolId of this.#pools ?? []) this.changes.push({ type: 'turns.granted', poolId, at: this.now })
    const { questions, guards, changes, run, steps, rootLogged } = this
    return { questions, guards, changes, run, steps, rootLogged, seq: this.#seq }
  }

  #budgetIds(): string[] {
    return (this.#before.budgets ?? []).map(({ id }) => id)
  }

  #runMoved(): Change {
    const moved = { type: 'run.moved', run: this.run, frames: this.#frames } as const
    return this.#started ? { ...moved, started: true } : moved
  }

  #bumpFence(): void {
    const run = this.#moving()
    run.fence++
    this.#seq = firstSeq(run.fence) - 1
  }

  /** The run as a copy that may be changed. */
  #moving(): Run {
    if (!this.#moved) this.#run = { ...this.#run }
    this.#moved = true
    return this.#run
  }

  #keep(step: Step): void {
    this.steps.push(step)
    if (step.rollback) this.hasRollback = true
    const settled = isSettled(step.status)
    if (settled && !this.#open.has(step.id)) return
    this.#ownOpen ??= new Map(this.#open)
    this.#open = this.#ownOpen
    if (settled) this.#ownOpen.delete(step.id)
    else this.#ownOpen.set(step.id, step)
  }
}

/** Copies field by field: nearly every pass records a step, and a spread costs several times as much. */
function stampPass(step: Step, { pass, runner, passSentAt }: PassSent): void {
  step.pass = pass
  step.runner = runner
  step.passSentAt = passSentAt
}

/** Makes the changes create a run together with the request to cancel it. False if they create no such run. */
export function cancelAtBirth(changes: Change[], runId: string, how: Pick<Run, 'skipsCleanup'> = {}): boolean {
  const at = changes.findIndex(change => change.type === 'run.created' && change.run.id === runId)
  const created = changes[at]
  if (created?.type !== 'run.created') return false
  changes[at] = { ...created, run: { ...created.run, cancelRequested: true, ...how } }
  return true
}

/** The move of a run that is ended by somebody other than the owner of its pass. */
export function interruptingPass(change: Change): Change {
  return change.type === 'run.moved' ? { ...change, interrupts: true } : change
}
