// Turns of steps at the limits that they share (docs/steps.md#limits-that-steps-share). A step waits until it has a turn. Then
// its run gets a pass that may start the step, and the turn counts until a period after the start. The store decides which step
// is next.

import { flowRowId, type TurnPool } from '../model/flow-row.ts'
import type { Run } from '../model/run.ts'
import type { LimitOfStep, Step } from '../model/step.ts'

/** The pool whose turns the step takes. */
export function poolOf({ namespace, app }: Pick<Run, 'namespace' | 'app'>, { name, key = '' }: LimitOfStep): TurnPool {
  const id = flowRowId({ namespace, app, workflow: name, policy: 'limit', key })
  return { id, namespace, app, limit: name, key }
}

/** Whether the step waits for its turn, or has an unused one. */
export function isAtLimit({ limit, status }: Pick<Step, 'limit' | 'status'>): boolean {
  return limit !== undefined && status === 'waiting'
}

/** Whether the step got a turn and no pass has had it yet. */
export function hasNewTurn(step: Step): boolean {
  return isAtLimit(step) && step.turnAt !== undefined && step.nextAttemptAt === undefined
}

/** Whether the step has a turn that a pass may have used. */
export function hasSentTurn(step: Step): boolean {
  return isAtLimit(step) && step.turnAt !== undefined && step.nextAttemptAt !== undefined
}

/** Whether the step lost its turn because a pass did not report it. */
export function mayAskAgain(step: Step): boolean {
  return isAtLimit(step) && step.turnAt === undefined && step.nextAttemptAt !== undefined
}
