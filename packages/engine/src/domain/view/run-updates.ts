// Derives the changes of a list of runs from a unit: the new state of each run, with all fields of a row in the list. Called by
// services/commit/announce for the streams of many runs.

import type { Change } from '../model/change.ts'
import { type Run, type RunStatus, runDurationMs } from '../model/run.ts'
import { isSettled, type Step } from '../model/step.ts'
import { type MoveError, moveError, statusFrames } from './timeline-frames.ts'

/** The state of a run after a commit. An absent field did not change. */
export interface RunUpdate {
  runId: string
  workflow: string
  app: string
  /** The newest seq of the commit, and the commit's time. */
  seq: number
  ts: number
  status: RunStatus
  attempt: number
  startedAt?: number
  durationMs?: number
  /** The newest unsettled step, else the newest one; for a failed run, the step that failed. */
  currentStepName?: string
  /** Only with a status that has an error. */
  error?: MoveError
}

interface StepNow {
  step: Step
  ts: number
}

/**
 * The update of each run whose status or steps the unit changes. A pass under way commits its steps without their run: `lastOf`
 * returns the last update of that run, if it is known.
 */
export function runUpdates(
  changes: readonly Change[],
  lastOf: (runId: string) => RunUpdate | undefined = () => undefined,
): RunUpdate[] {
  const steps = currentSteps(changes)
  const updates: RunUpdate[] = []
  for (const change of changes) {
    if (change.type !== 'run.created' && change.type !== 'run.moved') continue
    const { id } = change.run
    const update = runUpdate(change, steps.get(id))
    if (update) updates.push(update)
    steps.delete(id)
  }
  for (const [runId, { step, ts }] of steps) {
    const last = lastOf(runId)
    if (last) updates.push({ ...last, seq: step.seq, ts, currentStepName: step.name })
  }
  return updates
}

/** The update of a running run after its runner reported a running step. */
export function runningUpdate(run: Run, { seq, ts, name }: { seq: number; ts: number; name: string }): RunUpdate {
  const { id: runId, workflow, app, status, attempt } = run
  return { runId, workflow, app, seq, ts, status, attempt, ...times(run), currentStepName: name }
}

function runUpdate(
  change: Extract<Change, { type: 'run.created' | 'run.moved' }>,
  now: StepNow | undefined,
): RunUpdate | undefined {
  const { run } = change
  const last = statusFrames(change).at(-1)
  const newest = last ?? (now && { seq: now.step.seq, ts: now.ts })
  if (newest === undefined) return undefined
  const error = last && moveError(last)
  return {
    runId: run.id,
    workflow: run.workflow,
    app: run.app,
    seq: newest.seq,
    ts: newest.ts,
    status: run.status,
    attempt: run.attempt,
    ...times(run),
    ...currentStep(run, now),
    ...(error && { error }),
  }
}

/** The current step in a list: none for a succeeded or cancelled run; for a failed run, the step that failed. */
function currentStep({ status, error }: Run, now: StepNow | undefined): Pick<RunUpdate, 'currentStepName'> {
  if (status === 'succeeded' || status === 'cancelled') return {}
  const name = error?.stepName ?? now?.step.name
  return name === undefined ? {} : { currentStepName: name }
}

function times(run: Run): Pick<RunUpdate, 'startedAt' | 'durationMs'> {
  const { startedAt } = run
  const durationMs = runDurationMs(run)
  return { ...(startedAt !== undefined && { startedAt }), ...(durationMs !== undefined && { durationMs }) }
}

/** By run: the newest unsettled step of the unit, else the newest one. */
function currentSteps(changes: readonly Change[]): Map<string, StepNow> {
  const current = new Map<string, StepNow>()
  for (const change of changes) {
    if (change.type !== 'step.recorded' && change.type !== 'step.moved') continue
    const { step, at = step.startedAt } = change
    const before = current.get(step.runId)
    if (before && !isMoreCurrent(step, before.step)) continue
    current.set(step.runId, { step, ts: isSettled(step.status) ? (step.finishedAt ?? at) : at })
  }
  return current
}

function isMoreCurrent(step: Step, other: Step): boolean {
  const [isOpen, isOtherOpen] = [!isSettled(step.status), !isSettled(other.status)]
  return isOpen === isOtherOpen ? step.index > other.index : isOpen
}
