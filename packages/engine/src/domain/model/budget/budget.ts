// Budgets: limits of a run and all its descendants, and the amounts that these have spent (docs/budgets.md). Pure data;
// domain/run/budget decides.

import { BUDGET_AMOUNT_MAX, BUDGET_NAMES_MAX, COUNTED_NAMES } from '@perdure/protocol'
import { isAmount, numberOf, type Sum } from './sum.ts'

/** The budget of a workflow: each of its runs begins with it. */
export interface Budget {
  /** By name; the engine counts `steps` and `runs`. */
  limits: Record<string, number>
  /** A run that exceeds a limit fails; absent: it is paused. */
  whenExceeded?: 'fail'
}

/** One of the budgets of a run. */
export interface RunBudget extends Pick<Budget, 'whenExceeded'> {
  /** The first run of the chain with which the budget began. */
  id: string
  /** Only on the run with which the budget began: its first limits. */
  limits?: Record<string, number>
}

/** One name of a budget, as it is stored. Every budget has `steps` and `runs`, whether or not they have a limit. */
export interface BudgetLine {
  /** The id of the budget. */
  id: string
  name: string
  limit?: number
  /** The spent sum: its whole part, and its billionths. */
  whole: number
  billionths: number
  /** Rises with every new limit. */
  revision: number
}

/** The limits of a budget with the spent amounts, as the API shows them. */
export type ShownBudget = Record<string, { limit: number; spent: number }>

/** The lines of a budget that begins with a run. */
export function firstLines({ id, limits = {} }: RunBudget): BudgetLine[] {
  const names = new Set([...COUNTED_NAMES, ...Object.keys(limits)])
  return [...names].map(name => {
    const limit = limits[name]
    const line = { id, name, whole: name === 'runs' ? 1 : 0, billionths: 0, revision: 0 }
    return limit === undefined ? line : { ...line, limit }
  })
}

/** The budget with this id, made from its lines; names without a limit are left out. */
export function shownBudget(lines: readonly BudgetLine[], id: string): ShownBudget {
  const limited = lines.filter(line => line.id === id && line.limit !== undefined)
  return Object.fromEntries(limited.map(line => [line.name, { limit: line.limit as number, spent: numberOf(line) }]))
}

/** Whether the engine counts the name itself. */
export function isCounted(name: string): boolean {
  return (COUNTED_NAMES as readonly string[]).includes(name)
}

/** The problem with the names of a budget, if there is one. */
export function problemOfNames(names: readonly string[]): string | undefined {
  const others = names.filter(name => !isCounted(name)).length
  return others > BUDGET_NAMES_MAX
    ? `must not have more than ${BUDGET_NAMES_MAX} names besides steps and runs`
    : undefined
}

/** The problem with a limit, if there is one. */
export function problemOfLimit(limit: unknown): string | undefined {
  return isAmount(limit) ? undefined : `must be a number from 0 to ${BUDGET_AMOUNT_MAX}`
}

export type Sums = Record<string, Sum>
