// Reads the budget of a workflow's registration (docs/budgets.md). Called by registration.ts.

import type { WorkflowRegistration } from '@perdure/protocol'
import { type Budget, problemOfLimit, problemOfNames } from '../model/budget/budget.ts'
import { rounded } from '../model/budget/sum.ts'
import { invalid } from '../model/errors.ts'

/** The budget with its limits rounded to nine decimals; undefined for a budget without limits, which restricts nothing. */
export function budgetOf({ budget = {} }: WorkflowRegistration, field: string): Budget | undefined {
  const { whenExceeded, ...given } = budget
  if (whenExceeded !== undefined && whenExceeded !== 'pause' && whenExceeded !== 'fail')
    throw invalid(`${field}.budget.whenExceeded`, 'must be pause or fail')
  const names = Object.keys(given)
  const problem = problemOfNames(names)
  if (problem) throw invalid(`${field}.budget`, problem)
  const limits: Budget['limits'] = {}
  for (const name of names) {
    const wrong = problemOfLimit(given[name])
    if (wrong) throw invalid(`${field}.budget.${name}`, wrong)
    limits[name] = rounded(given[name] as number)
  }
  if (names.length === 0) return undefined
  return whenExceeded === 'fail' ? { limits, whenExceeded } : { limits }
}
