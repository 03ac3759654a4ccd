// Sums with nine decimals, exact beyond the digits of a number: a whole part, and billionths.

import { BUDGET_AMOUNT_MAX } from '@perdure/protocol'

export interface Sum {
  whole: number
  /** Less than a billion. */
  billionths: number
}

export const NOTHING_SPENT: Readonly<Sum> = { whole: 0, billionths: 0 }

const DECIMALS = 9
const BILLION = 10 ** DECIMALS

/** Whether the value is allowed in a limit or a report. */
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

/** The number nearest to the sum: the same number that the sum's decimals would give as a text. */
export function numberOf({ whole, billionths }: Sum): number {
  return Number(`${whole}.${String(billionths).padStart(DECIMALS, '0')}`)
}

/** The amount, rounded as sums are. */
export function rounded(amount: number): number {
  return numberOf(sumOf(amount))
}
