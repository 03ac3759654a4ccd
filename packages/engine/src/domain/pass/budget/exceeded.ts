// Decides what a run does at a step boundary when one of its budgets is exceeded: it is paused, or it fails. Called by
// services/pass/budget-check, between passes and after checkpoints.

import type { RunError } from '@perdure/protocol'
import { numberOf } from '../../model/budget/sum.ts'
import type { CatalogView } from '../../model/catalog.ts'
import type { Next, PassDecision } from '../../model/decision.ts'
import type { WaitingFor } from '../../model/run.ts'
import type { Assumptions } from '../../run/assumptions.ts'
import { type Exceeded, exceededLimit } from '../../run/budget/budgets.ts'
import { passMayAnswer } from '../../run/cleanup/late-window.ts'
import { Draft, interruptingPass } from '../../run/draft.ts'
import { finish } from '../../run/finish.ts'
import type { RunState } from '../../run/state.ts'
import { shownRunId } from '../../text/ids.ts'
import { park } from '../park.ts'

export interface BoundaryContext {
  now: number
  catalog: CatalogView
  assumptions: Assumptions
  /** A pass of the run is under way, so a pause keeps the lease. */
  isUnderWay: boolean
}

/**
 * With `next: 'pass'` the pass continues, or is sent: the run is within its budgets, or it is paused and its pass under way
 * ends soon.
 */
export function stopIfExceeded(state: RunState, context: BoundaryContext): PassDecision {
  const draft = new Draft(state, context.now)
  const next = stop(draft, context)
  const decision = draft.done()
  // The pass under way may answer late, as after a cancel.
  const changes = context.isUnderWay ? decision.changes.map(interruptingPass) : decision.changes
  return { decision: next === 'stop' ? { ...decision, changes } : decision, next }
}

function stop(draft: Draft, { catalog, assumptions, isUnderWay }: BoundaryContext): Next {
  if (assumptions.budgets === undefined) {
    draft.questions.push({ type: 'budgets', ids: (draft.run.budgets ?? []).map(({ id }) => id) })
    return 'stop'
  }
  const exceeded = exceededLimit(draft.run, assumptions.budgets)
  if (!exceeded || draft.run.status === 'paused') return 'pass'
  const { budget, line } = exceeded
  // A limit that is set meanwhile makes the decision stale: no run stays paused for an old limit.
  draft.guards.push({ type: 'limit', budgetId: line.id, name: line.name, revision: line.revision })
  if (budget.whenExceeded === 'fail') {
    const mayAnswer = isUnderWay && passMayAnswer(draft.run, catalog)
    finish(draft, { status: 'failed', error: errorOf(exceeded) }, catalog, { mayAnswer })
    return 'stop'
  }
  draft.move('paused')
  draft.set({ waitingFor: waitOf(exceeded) })
  if (isUnderWay) return 'pass'
  park(draft, draft.now)
  return 'stop'
}

function waitOf({ budget, line }: Exceeded): WaitingFor {
  const { name, limit } = line
  return { kind: 'budget', runId: shownRunId(budget.id), name, limit, spent: numberOf(line), budgetId: budget.id }
}

function errorOf({ budget, line }: Exceeded): RunError {
  const { name, limit } = line
  const message = `The budget of run ${shownRunId(budget.id)} is exceeded: ${numberOf(line)} of ${limit} ${name} are spent.`
  return { message, name: 'BudgetExceededError', code: 'budget_exceeded' }
}
