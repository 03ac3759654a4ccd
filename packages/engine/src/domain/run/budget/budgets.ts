// The budgets that a run is under: its own and those of the runs above it (docs/budgets.md). Used by run/create and by the
// service that sets limits.

import type { BudgetLine, RunBudget } from '../../model/budget/budget.ts'
import { numberOf } from '../../model/budget/sum.ts'
import { type Run, runKind } from '../../model/run.ts'
import type { Workflow } from '../../model/workflow.ts'

/** Maximum budgets that a run inherits: those of its outermost ancestors. */
const INHERITED_MAX = 32

type Identified = Pick<Run, 'id' | 'chainId' | 'budgets'>

/** The budget that began with the chain of the run, if one did. */
export function ownBudget({ id, chainId = id, budgets }: Identified): RunBudget | undefined {
  const last = budgets?.at(-1)
  return last?.id === chainId ? last : undefined
}

/** The budgets of the next run of a chain: those of the previous run, without the first limits, which are already stored. */
export function passedOn({ budgets }: Pick<Run, 'budgets'>): Pick<Run, 'budgets'> {
  return budgets === undefined ? {} : { budgets: budgets.map(({ limits: _, ...budget }) => budget) }
}

/** The budgets that a child inherits. */
export function inherited(parent: Pick<Run, 'budgets'>): Pick<Run, 'budgets'> {
  const { budgets } = passedOn(parent)
  return budgets === undefined ? {} : { budgets: budgets.slice(0, INHERITED_MAX) }
}

/**
 * The budgets of a new run of the workflow. A link of a chain has the chain's budgets; a run that follows the end of another has
 * none.
 */
export function budgetsOf(
  origin: Identified & Pick<Run, 'failure' | 'cleanupOf'>,
  workflow: Pick<Workflow, 'budget'> | undefined,
): Pick<Run, 'budgets'> {
  const { id, chainId, budgets = [] } = origin
  if (workflow?.budget === undefined || chainId !== undefined || runKind(origin) !== 'run') return {}
  return { budgets: [...budgets, { id, ...workflow.budget }] }
}

/** A limit that is exceeded. */
export interface Exceeded {
  budget: RunBudget
  line: BudgetLine & { limit: number }
}

/** The first exceeded limit of the run, of its outermost budget first. */
export function exceededLimit(
  { budgets = [] }: Pick<Run, 'budgets'>,
  lines: readonly BudgetLine[],
): Exceeded | undefined {
  for (const budget of budgets) {
    const line = lines.find(({ id, limit, ...sum }) => id === budget.id && limit !== undefined && numberOf(sum) > limit)
    if (line) return { budget, line: line as Exceeded['line'] }
  }
  return undefined
}
