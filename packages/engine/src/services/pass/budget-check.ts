// Checks the budgets of a run under way at each step boundary: before a pass is sent, and after a checkpoint. For a run without
// a budget this costs nothing. Called by pass-loop.ts and checkpoint.ts.

import type { Run } from '../../domain/model/run.ts'
import { stopIfExceeded } from '../../domain/pass/budget/exceeded.ts'
import { exceededLimit } from '../../domain/run/budget/budgets.ts'
import type { Core } from '../commit/core.ts'
import type { ActiveRun } from './active-run.ts'
import type { Settlement } from './settlement.ts'

type BudgetCheckDeps = Pick<Core, 'store' | 'clock' | 'catalog'> & { settlement: Settlement }

/**
 * Pauses or ends the run if one of its budgets is exceeded. Returns whether its passes continue. A pass under way continues
 * even if its run is paused.
 */
export async function isWithinBudgets(
  { store, clock, catalog, settlement }: BudgetCheckDeps,
  active: ActiveRun,
  { isUnderWay }: { isUnderWay: boolean },
): Promise<boolean> {
  const { run } = active.state
  if (run.budgets === undefined || run.status === 'paused') return true
  if (!exceededLimit(run, await store.budgets(idsOf(run)))) return true
  const decided = await settlement.settle(active, assumptions =>
    stopIfExceeded(active.state, { now: clock.now(), catalog: catalog.view(run.namespace), assumptions, isUnderWay }),
  )
  return decided?.next === 'pass'
}

function idsOf({ budgets = [] }: Run): string[] {
  return budgets.map(({ id }) => id)
}
