// The CEL dialect of triggers, waits and keys (docs/events.md#expressions): the standard functions, arithmetic between
// CEL's integers and the doubles of JSON, and bounds on the size of an expression.

import { Environment } from '@marcbachmann/cel-js'
import { meterEvaluator } from './metering.ts'

/** Maximum number of nodes of an expression's tree. */
export const NODES_MAX = 250
const DEPTH_MAX = 30
const LITERAL_ITEMS_MAX = 100

const base = new Environment({
  homogeneousAggregateLiterals: false,
  limits: {
    maxAstNodes: NODES_MAX,
    maxDepth: DEPTH_MAX,
    maxListElements: LITERAL_ITEMS_MAX,
    maxMapEntries: LITERAL_ITEMS_MAX,
    maxCallArguments: 16,
  },
}).registerVariable('event', 'dyn')

const ARITHMETIC = {
  '+': (a: number, b: number) => a + b,
  '-': (a: number, b: number) => a - b,
  '*': (a: number, b: number) => a * b,
  '/': (a: number, b: number) => a / b,
  '%': (a: number, b: number) => a % b,
}
/** The same for whole operands if one of them would lose digits as a double. */
const EXACT: Partial<Record<string, (a: bigint, b: bigint) => bigint>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '%': (a, b) => a % b,
}
for (const [operator, compute] of Object.entries(ARITHMETIC)) {
  const exact = EXACT[operator]
  const mixed = (a: number | bigint, b: number | bigint) =>
    exact && isExact(a, b) ? Number(exact(BigInt(a), BigInt(b))) : compute(Number(a), Number(b))
  base.registerOperator(`double ${operator} int: double`, mixed)
  base.registerOperator(`int ${operator} double: double`, mixed)
}
base.registerOperator('double % double: double', ARITHMETIC['%'])

/** Has the variable `event`. */
export const EVENT_ENVIRONMENT = base.clone()
/** Has the variables `event`, the event that began the run, and `async`, the event that arrived. */
export const WAIT_ENVIRONMENT = base.clone().registerVariable('async', 'dyn')
for (const environment of [EVENT_ENVIRONMENT, WAIT_ENVIRONMENT]) meterEvaluator(environment)

/** Whether both are whole and one is too large for a double. */
function isExact(a: number | bigint, b: number | bigint): boolean {
  return [a, b].every(isWhole) && [a, b].some(n => !Number.isSafeInteger(Number(n)))
}

function isWhole(n: number | bigint): boolean {
  return typeof n === 'bigint' || Number.isInteger(n)
}
