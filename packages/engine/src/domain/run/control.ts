// Control actions on one run: cancel, pause, resume, and forks by replay or retry-from-step
// (docs/concepts.md#pause-resume-cancel). Each is a pure decision on a freshly loaded run; a refusal is an EngineError that
// names the run's status.

import { timedOut } from '../holds/timeouts.ts'
import type { CatalogView } from '../model/catalog.ts'
import type { Change } from '../model/change.ts'
import type { Decision } from '../model/decision.ts'
import { EngineError, type ErrorCode } from '../model/errors.ts'
import { isTerminal, type Run } from '../model/run.ts'
import { firstSeq } from '../model/seq.ts'
import { isSettled, type Step, timerOf } from '../model/step.ts'
import { shownRunId } from '../text/ids.ts'
import type { JsonText } from '../text/json-text.ts'
import type { Traceparent } from '../text/traceparent.ts'
import { type Cleanups, refuseUndone } from './cleanup/begun.ts'
import { passMayAnswer } from './cleanup/late-window.ts'
import { forkedRun, type Under } from './create.ts'
import { Draft } from './draft.ts'
import { renewTries } from './exhausted.ts'
import { finish } from './finish.ts'
import type { RunState } from './state.ts'

/** `skipsCleanup`: no cleanup run follows, neither of this run nor of the children that the end cancels. */
export function cancel(
  state: RunState,
  { now, catalog, skipsCleanup }: { now: number; catalog: CatalogView; skipsCleanup?: boolean | undefined },
): Decision {
  refuseTerminal(state.run, 'cancel')
  const draft = new Draft(state, now)
  if (skipsCleanup) draft.set({ skipsCleanup: true })
  finish(draft, { status: 'cancelled' }, catalog, { mayAnswer: passMayAnswer(draft.run, catalog) })
  return draft.done()
}

/**
 * Ends a run whose pass is under way and may still answer: its cancel was requested, or it is out of time. Undefined if neither
 * is true, or the run has ended.
 */
export function endUnderWay(
  state: RunState,
  { now, catalog }: { now: number; catalog: CatalogView },
): Decision | undefined {
  const { run } = state
  const error = timedOut(run, now)
  if (isTerminal(run.status) || !(run.cancelRequested || error)) return undefined
  const draft = new Draft(state, now)
  const end =
    run.cancelRequested || !error ? ({ status: 'cancelled' } as const) : ({ status: 'failed', error } as const)
  finish(draft, end, catalog, { mayAnswer: passMayAnswer(run, catalog) })
  return draft.done()
}

/**
 * Pauses the run. The lease stays: the pass in flight is checkpointed, or recovered if its engine dies. Undefined when the run
 * is already paused.
 */
export function pause(state: RunState, now: number): Decision | undefined {
  refuseTerminal(state.run, 'pause')
  if (state.run.status === 'paused') return undefined
  const draft = new Draft(state, now)
  draft.move('paused')
  draft.set({ waitingFor: undefined })
  if (draft.run.leaseOwner === undefined) draft.set({ availableAt: nextTimer(draft.open.values()) })
  return draft.done()
}

/**
 * Resumes a paused run, with new tries if it has spent them. If the pass that was in flight at the pause is still in flight,
 * its owner keeps the lease and continues.
 */
export function resume(state: RunState, now: number): Decision {
  if (state.run.status !== 'paused') throw refusal('run_not_paused', state.run, ', not paused.')
  const draft = new Draft(state, now)
  const isUnderWay = draft.run.leaseOwner !== undefined
  // Later than the time when a pass that is still in flight was sent: that pass does not execute the step.
  renewTries(draft, state, isUnderWay ? now + 1 : now)
  // The run is paused again before its next pass if the budget is still exceeded.
  if (draft.run.waitingFor?.kind === 'budget') draft.set({ waitingFor: undefined })
  draft.move('queued')
  if (!isUnderWay) draft.set({ availableAt: now })
  return draft.done()
}

/**
 * A request for another pass, because a handler continues after the answer of its pass. `settled`: how many settled steps the
 * engine had sent for that pass.
 */
export interface Wake {
  now: number
  /** When the run should get another pass. */
  at: number
  settled?: number | undefined
}

/** Wakes a parked run. Undefined when the run is not parked, or gets another pass earlier or anyway. */
export function wake(state: RunState, { now, at, settled = Number.POSITIVE_INFINITY }: Wake): Decision | undefined {
  const { status, leaseOwner, availableAt, waitingFor } = state.run
  const isRepeated = waitingFor?.kind === 'retry' && waitingFor.stepName === undefined
  if (status !== 'waiting' || leaseOwner !== undefined || isRepeated) return undefined
  if (state.settledCount > settled || (availableAt !== undefined && availableAt <= at)) return undefined
  const draft = new Draft(state, now)
  if (at <= now) draft.move('queued')
  draft.set({ availableAt: at })
  return draft.done()
}

/** A new run of the same work from the start. `input` overrides the source's input. */
export function replay(source: Run, options: NewFork & { input: JsonText | undefined }): Fork {
  refuseUnfinished(source)
  const run = forkedRun({ ...options, source, input: options.input ?? source.input })
  return { run, changes: [{ type: 'run.created', run }] }
}

/** The inputs of a fork, without its source. */
export interface NewFork {
  id: string
  now: number
  under: Under
  /** Trace of the request; without it the fork starts its own trace. */
  trace?: Traceparent | undefined
}

export interface Fork {
  run: Run
  changes: Change[]
}

/** A new run that carries the results of the steps before the named one and resumes there. */
export function retryFromStep(
  source: RunState,
  options: NewFork & { step: string; cleanups?: Cleanups | undefined },
): Fork & { step: Step } {
  refuseUnfinished(source.run)
  const steps = [...source.steps.values()].sort((a, b) => a.index - b.index)
  const from = findStep(steps, options.step)
  if (!from) {
    throw new EngineError('step_not_found', `Run ${shownRunId(source.run.id)} has no step "${options.step}".`, {
      details: { step: options.step },
    })
  }
  const run = forkedRun({ ...options, source: source.run, input: source.run.input })
  const changes: Change[] = [{ type: 'run.created', run }]
  const ending = endingStep(steps, source.run)
  const carried = steps.filter(step => step.index < from.index && isCarried(step, ending))
  if (options.cleanups) refuseUndone(carried, options.cleanups)
  // A replay resolves steps in the order of their seqs, so the copies keep that order.
  const rank = new Map([...carried].sort((a, b) => a.seq - b.seq).map((step, i) => [step, i]))
  for (const [index, step] of carried.entries()) {
    const seq = firstSeq(0) + 1 + (rank.get(step) as number)
    changes.push({ type: 'step.recorded', step: { ...withoutPass(step), runId: run.id, index, seq, carried: true } })
  }
  return { run, changes, step: from }
}

/** The step without the fields about its pass, which the fork does not have. */
function withoutPass({ pass: _, runner: __, passSentAt: ___, ranAt: ____, ranMs: _____, ...step }: Step): Step {
  return step
}

/** Finds a step by name, with `:n` for the n-th repeat of a name, else by hashed id. */
export function findStep(steps: readonly Step[], wanted: string): Step | undefined {
  const uses = new Map<string, number>()
  for (const step of steps) {
    const use = uses.get(step.name) ?? 0
    uses.set(step.name, use + 1)
    if (wanted === (use === 0 ? step.name : `${step.name}:${use}`)) return step
  }
  return steps.find(step => step.id === wanted)
}

/**
 * Whether a fork keeps the step's result. It keeps results and caught failures. It runs these again: cancelled steps, the step
 * that ended the run, and steps that failed after it, since nobody knows whether the handler caught them.
 */
function isCarried(step: Step, ending: Step | undefined): boolean {
  if (!isSettled(step.status) || step.status === 'cancelled') return false
  return step.status !== 'failed' || !ending || step.seq < ending.seq
}

/**
 * The step whose failure ended the run: it has the run's error, or at least its name. The end may follow the failure at once,
 * or in a later pass in which the handler did not catch it. So of several such steps it is the last.
 */
function endingStep(steps: readonly Step[], run: Run): Step | undefined {
  const { code, stepName, message, stack, name } = run.error ?? {}
  if (code !== 'step_failed') return undefined
  const failed = steps.filter(({ status }) => status === 'failed').sort((a, b) => a.seq - b.seq)
  const named = failed.filter(step => step.name === stepName)
  const alike = named.filter(
    ({ error }) => error?.message === message && error?.stack === stack && error?.name === name,
  )
  const candidates = alike.length > 0 ? alike : named
  const isAtEnd = ({ finishedAt }: Step) => finishedAt === run.finishedAt
  return candidates.find(isAtEnd) ?? candidates.at(-1) ?? failed.find(isAtEnd)
}

/** The step whose failure ended the run, if one did. */
export function failedStep({ run, steps }: RunState): Step | undefined {
  if (run.status !== 'failed') return undefined
  return endingStep(
    [...steps.values()].sort((a, b) => a.index - b.index),
    run,
  )
}

/** When the next timer of parked steps is due, if there is one: in a paused run, only timers continue. */
export function nextTimer(steps: Iterable<Step>): number | undefined {
  let next: number | undefined
  for (const step of steps) {
    const wakeAt = timerOf(step)
    if (step.status === 'waiting' && wakeAt !== undefined) next = Math.min(next ?? wakeAt, wakeAt)
  }
  return next
}

/** Participles of the actions that only a live run allows. */
const DONE = { cancel: 'cancelled', pause: 'paused' }

function refuseTerminal(run: Run, action: keyof typeof DONE): void {
  if (!isTerminal(run.status)) return
  if (run.continuedAs !== undefined) {
    const continuedAs = shownRunId(run.continuedAs)
    const message = `Run ${shownRunId(run.id)} has already continued as run ${continuedAs} and can't be ${DONE[action]}.`
    throw new EngineError('run_terminal', message, { details: { status: run.status, continuedAs } })
  }
  const has = run.status === 'cancelled' ? 'was already cancelled' : `has already ${run.status}`
  const cannot = run.status === DONE[action] ? '' : ` and can't be ${DONE[action]}`
  const message = `Run ${shownRunId(run.id)} ${has}${cannot}.`
  throw new EngineError('run_terminal', message, { details: { status: run.status } })
}

function refuseUnfinished(run: Run): void {
  if (isTerminal(run.status)) return
  throw refusal('run_not_finished', run, ': only a finished run can be forked.')
}

function refusal(code: ErrorCode, { id, status }: Run, why: string): EngineError {
  return new EngineError(code, `Run ${shownRunId(id)} is ${status}${why}`, { details: { status } })
}
