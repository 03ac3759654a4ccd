// Turns of steps at the limits that they share (docs/steps.md#limits-that-steps-share). A step waits until it has a turn, its run gets a
// pass that may start the step, and the turn counts until a period after the start. Which step is next is decided in the store.

import { flowRowId, type TurnPool } from '../model/flow-row.ts'
import type { Run } from '../model/run.ts'
import type { LimitOfStep, Step } from '../model/step.ts'

/** The pool whose turns the step takes. */
export function poolOf({ namespace, app }: Pick<Run, 'namespace' | 'app'>, { name, key = '' }: LimitOfStep): TurnPool {
  const id = flowRowId({ namespace, app, workflow: name, policy: 'limit', key })
  return { id, namespace, app, limit: name, key }
}

/** Whether the step waits for its turn, or has one that is not used yet. */
export function isAtLimit({ limit, status }: Pick<Step, 'limit' | 'status'>): boolean {
  return limit !== undefined && status === 'waiting'
}

/** Whether the step got a turn that no pass had yet. */
export function hasNewTurn(step: Step): boolean {
  return isAtLimit(step) && step.turnAt !== undefined && step.nextAttemptAt === undefined
}

/** Whether the step has a turn that a pass may have used. */
export function hasSentTurn(step: Step): boolean {
  return isAtLimit(step) && step.turnAt !== undefined && step.nextAttemptAt !== undefined
}

/** Whether the step lost its turn with a pass that did not report it. */
export function mayAskAgain(step: Step): boolean {
  return isAtLimit(step) && step.turnAt === undefined && step.nextAttemptAt !== undefined
}
