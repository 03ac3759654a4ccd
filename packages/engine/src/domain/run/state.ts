// A run as its owner keeps it in memory between passes: the row, its steps, and the memo text that every invoke carries.
// Decisions read it; `apply` updates it once a decision is durable.

import { hasSentTurn, mayAskAgain } from '../holds/turns.ts'
import type { Decision } from '../model/decision.ts'
import type { InboxRead } from '../model/event.ts'
import type { Run } from '../model/run.ts'
import { firstSeq } from '../model/seq.ts'
import { isSettled, nextAttempt, type Step } from '../model/step.ts'
import type { JsonText } from '../text/json-text.ts'

/** A run as the store loads it. */
export interface LoadedRun {
  run: Run
  /** In index order. */
  steps: Step[]
  /** Highest index of a stored `@root` log line + 1. */
  rootLogged: number
}

export class RunState {
  run: Run
  readonly #steps = new Map<string, Step>()
  readonly #open = new Map<string, Step>()
  /** Every step, by hashed id. */
  readonly steps: ReadonlyMap<string, Step> = this.#steps
  /** The unsettled steps, by hashed id. */
  readonly open: ReadonlyMap<string, Step> = this.#open
  /** Highest stored `@root` log index + 1. Handler lines with a lower index are repeats of a replay. */
  rootLogged: number
  /** The inbox of the run, once it was read for its end. */
  inbox: InboxRead | undefined
  /** Last seq used in the range of `run.fence`. Undefined after a plain load: the next decision bumps the fence. */
  seq: number | undefined
  /** The highest seq of the steps; 0 without steps. */
  lastStepSeq = 0
  /** Number of the newest pass that the run's row or a step knows; 0 before the first. */
  lastPass: number
  readonly #settled: Step[] = []
  /** The settled steps in the order of the memo. */
  readonly settled: readonly Step[] = this.#settled
  /** Whether a succeeded step can be undone. */
  hasRollback = false
  /** Children whose steps were settled by hand: these continue until the run ends. */
  readonly abandonedChildren: string[] = []
  /** The settled part of the memo, with and without ops; absent until a pass needs it. */
  readonly #memos = new Map<boolean, JsonText>()
  #settledSize = 0

  private constructor(run: Run, steps: readonly Step[], rootLogged: number, seq: number | undefined) {
    this.run = run
    this.rootLogged = rootLogged
    this.seq = seq
    this.lastPass = run.lastPass?.pass ?? 0
    // In the order in which they settled: a replay resolves steps in the order of the memo's keys.
    for (const step of [...steps].sort((a, b) => a.seq - b.seq)) this.#take(step)
  }

  /** A run that was just created and leased; it has only the frames of its creation. */
  static created(run: Run): RunState {
    return new RunState(run, [], 0, run.startedSeq ?? firstSeq(0))
  }

  /** A run that was just claimed: the claim opened a new fence and used none of its seqs. */
  static claimed({ run, steps, rootLogged }: LoadedRun): RunState {
    return new RunState(run, steps, rootLogged, firstSeq(run.fence) - 1)
  }

  /** A run loaded without a lease. A decision on it opens a new fence. */
  static loaded({ run, steps, rootLogged }: LoadedRun): RunState {
    return new RunState(run, steps, rootLogged, undefined)
  }

  /** A run that has ended. Its row does not change any more; steps that are stored now get the seqs after `seq`. */
  static ended({ run, steps, rootLogged }: LoadedRun, seq: number): RunState {
    return new RunState(run, steps, rootLogged, seq)
  }

  /** Number of settled steps. Shows whether a pass brought anything new. */
  get settledCount(): number {
    return this.#settled.length
  }

  /** The events that settled waits among the first `count` entries of the memo. */
  eventsAmong(count: number): ReadonlySet<string> {
    const events = this.#settled.slice(0, count).map(({ eventId }) => eventId)
    return new Set(events.filter(eventId => eventId !== undefined))
  }

  /** Applies a committed decision that was made on this state. */
  apply(decision: Decision): void {
    this.run = decision.run
    this.seq = decision.seq
    this.rootLogged = decision.rootLogged
    for (const step of decision.steps) this.#take(step)
  }

  /** Approximate bytes of the run's stored state, for its limit: input plus every settled result. */
  get size(): number {
    return this.#settledSize + inputSize(this.run)
  }

  /**
   * The memo of an invoke sent at `now` (docs/wire-protocol.md#the-memo): settled steps with data or error; parked steps, and
   * failed steps whose retry is not due, are pending. Steps have their kinds if `withOps`. A step whose retry is due is left
   * out, so that the runner runs it.
   */
  memo(now: number, { withOps = false } = {}): JsonText {
    let text = this.#memos.get(withOps)
    if (text === undefined) {
      text = this.#settled.map(step => settledEntry(step, withOps)).join(',')
      this.#memos.set(withOps, text)
    }
    for (const step of this.open.values()) {
      if (isDue(step, now)) continue
      const op = withOps ? `"op":"${step.op}",` : ''
      text += `${text === '' ? '' : ','}${JSON.stringify(step.id)}:{${op}"pending":true}`
    }
    return `{${text}}`
  }

  /**
   * The context members of an invoke sent at `now` for the steps that the runner is to try again, each after a comma
   * (docs/wire-protocol.md#attempts-of-steps).
   */
  attempts(now: number): JsonText {
    let [attempts, spent] = ['', '']
    for (const step of this.open.values()) {
      if (!isDue(step, now)) continue
      const id = JSON.stringify(step.id)
      attempts += `${attempts === '' ? '' : ','}${id}:${nextAttempt(step)}`
      if (step.spentAt !== undefined) spent += `${spent === '' ? '' : ','}${id}:${step.spentAt}`
    }
    if (attempts === '') return ''
    return `,"stepAttempts":{${attempts}}${spent === '' ? '' : `,"spentAttempts":{${spent}}`}`
  }

  /** The context member of an invoke sent at `now` with the steps that have their turn, after a comma. */
  turns(now: number): JsonText {
    const ids = [...this.open.values()].filter(step => hasSentTurn(step) && isDue(step, now)).map(({ id }) => id)
    return ids.length === 0 ? '' : `,"turns":${JSON.stringify(ids)}`
  }

  #take(step: Step): void {
    const before = this.#steps.get(step.id)
    if (before && isSettled(before.status)) this.#takeBack(before)
    this.#steps.set(step.id, step)
    this.lastStepSeq = Math.max(this.lastStepSeq, step.seq)
    if (step.pass !== undefined && step.pass > this.lastPass) this.lastPass = step.pass
    if (!isSettled(step.status)) {
      this.#open.set(step.id, step)
      return
    }
    this.#open.delete(step.id)
    this.#settled.push(step)
    if (step.rollback) this.hasRollback = true
    if (step.settledBy && step.childRunId !== undefined && !step.carried) this.abandonedChildren.push(step.childRunId)
    for (const [withOps, text] of this.#memos)
      this.#memos.set(withOps, `${text}${text === '' ? '' : ','}${settledEntry(step, withOps)}`)
    this.#settledSize += sizeOf(step)
  }

  /** A settled step that is decided again gets another place in the memo. */
  #takeBack(step: Step): void {
    this.#settled.splice(this.#settled.indexOf(step), 1)
    this.#memos.clear()
    this.#settledSize -= sizeOf(step)
  }
}

/** The size of a run's state before its first step. */
export function inputSize({ input }: Pick<Run, 'input'>): number {
  return input?.length ?? 0
}

function sizeOf(step: Step): number {
  return settledEntry(step, false).length + 1
}

function settledEntry(step: Step, withOp: boolean): JsonText {
  const op = withOp ? `"op":"${step.op}",` : ''
  const outcome =
    step.status === 'succeeded' ? `"data":${step.data ?? 'null'}` : `"error":${JSON.stringify(step.error)}`
  return `${JSON.stringify(step.id)}:{${op}${outcome}}`
}

/** Whether the next attempt of a step that failed, or that has its turn, may run in a pass sent at `now`. */
export function isDue(step: Step, now: number): boolean {
  return (step.status === 'retrying' || hasSentTurn(step) || mayAskAgain(step)) && (step.nextAttemptAt ?? 0) <= now
}
