// Gives an outstanding step its end by hand (docs/steps.md#settle-a-step). It is decided on the freshly loaded run, so the
// step's real result, its timeout or a cancel either comes first, or finds a settled step and is dropped.

import { quoteName, type StepError } from '@perdure/protocol'
import type { CatalogView } from '../../model/catalog.ts'
import type { Decision } from '../../model/decision.ts'
import { EngineError } from '../../model/errors.ts'
import { isTerminal } from '../../model/run.ts'
import { isSettled, type SettledBy, type Step } from '../../model/step.ts'
import { findStep, nextTimer } from '../../run/control.ts'
import { Draft } from '../../run/draft.ts'
import { notifyStepFailed } from '../../run/notices.ts'
import type { RunState } from '../../run/state.ts'
import { shownRunId } from '../../text/ids.ts'
import type { JsonText } from '../../text/json-text.ts'

/** The end that the caller gives to a step. */
export type StepEnd = { status: 'succeeded'; data: JsonText } | { status: 'failed'; error: StepError }

export interface SettleOptions {
  /** The name of the step, with `:n` for repeats, or its hashed id. */
  wanted: string
  end: StepEnd
  by: Omit<SettledBy, 'at'>
  /** Steps that the runner reported as running and of which nothing is stored. */
  running: readonly Step[]
  now: number
  catalog: CatalogView
}

/** `isTaken`: the pass in flight lost its lease. */
export interface SettledStep {
  decision: Decision
  step: Step
  isTaken: boolean
}

/** @throws EngineError `step_not_found`, or `conflict` when the step is settled or the run has ended. */
export function settleStep(state: RunState, options: SettleOptions): SettledStep {
  const { end, by, now, catalog } = options
  const { run } = state
  const found = requireOutstanding(state, options)
  const stored = state.steps.get(found.id)
  const draft = new Draft(state, now)
  const error = end.status === 'failed' ? end.error : undefined
  const settled = { nextAttemptAt: undefined, childStart: undefined, error, ...end, finishedAt: now }
  const fields = { ...settled, settledBy: { ...by, at: now } }
  const { id, name, op, attempt, startedAt } = found
  const step = stored
    ? draft.moveStep(stored, fields)
    : draft.record({ id, name, op, attempt, startedAt: Math.min(startedAt, now), ...fields })
  if (step.status === 'failed') notifyStepFailed(draft, step, catalog)
  wake(draft, !stored || (stored.status === 'retrying' && (stored.nextAttemptAt ?? 0) <= now))
  return { decision: draft.done(), step, isTaken: run.leaseOwner !== undefined && draft.run.leaseOwner === undefined }
}

function requireOutstanding({ run, steps }: RunState, { wanted, running }: SettleOptions): Step {
  const known = [...steps.values(), ...running.filter(({ id }) => !steps.has(id))]
  const step = findStep(
    known.sort((a, b) => a.index - b.index),
    wanted,
  )
  const shown = shownRunId(run.id)
  if (!step)
    throw new EngineError('step_not_found', `Run ${shown} has no step ${quoteName(wanted)}.`, {
      details: { step: wanted },
    })
  if (isTerminal(run.status) || run.cancelRequested) throw new EngineError('conflict', `Run ${shown} has ended.`)
  if (isSettled(step.status))
    throw new EngineError('conflict', `Step ${quoteName(step.name)} has already ${step.status}.`)
  return step
}

/**
 * Wakes the run. A pass that executes the step may never end, so it loses its lease, and another one is sent at once. Any other
 * pass gets the end of the step when the pass ends.
 */
function wake(draft: Draft, isExecuted: boolean): void {
  const { status, leaseOwner } = draft.run
  if (leaseOwner !== undefined && !(isExecuted && (status === 'running' || status === 'paused'))) return
  if (status === 'paused') {
    draft.set({ leaseOwner: undefined, availableAt: nextTimer(draft.open.values()) })
    return
  }
  if (status === 'queued') return
  draft.set({ leaseOwner: undefined, availableAt: draft.now, waitingFor: undefined })
  draft.move('queued')
}
