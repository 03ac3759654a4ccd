// Sums with nine decimals, exact beyond the digits of a number: a whole part, and billionths beside it.

import { BUDGET_AMOUNT_MAX } from '@perdure/protocol'

export interface Sum {
  whole: number
  /** Below a billion. */
  billionths: number
}

export const NOTHING_SPENT: Readonly<Sum> = { whole: 0, billionths: 0 }

const DECIMALS = 9
const BILLION = 10 ** DECIMALS

/** Whether a limit or a report may have the value. */
export function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= BUDGET_AMOUNT_MAX
}

/** The amount, rounded to nine decimals. */
export function sumOf(amount: number): Sum {
  const [whole = '', decimals = ''] = amount.toFixed(DECIMALS).split('.')
  return { whole: Number(whole), billionths: Number(decimals) }
}

export function plus(a: Sum, b: Sum): Sum {
  const billionths = a.billionths + b.billionths
  return { whole: a.whole + b.whole + Math.floor(billionths / BILLION), billionths: billionths % BILLION }
}

/** The number that is nearest to the sum: the same number that its decimals stand for in a text. */
export function numberOf({ whole, billionths }: Sum): number {
  return Number(`${whole}.${String(billionths).padStart(DECIMALS, '0')}`)
}

/** The amount, rounded as sums are. */
export function rounded(amount: number): number {
  return numberOf(sumOf(amount))
}
