// Makes evaluations charge their work (meter.ts). The library's evaluator runs every node of a tree, so it charges for each
// node. Calls, operators and comprehensions charge by the values that they read, after these are evaluated.

import type { Environment } from '@marcbachmann/cel-js'
import { chargeKeys, chargeOperator, FUNCTION_COSTS, lengthOf } from './cost.ts'
import { charge } from './meter.ts'
import { eventPattern, matches, type Pattern } from './pattern.ts'

/** A node of the library's tree, with the parts that the library's evaluation reads. */
export interface Node {
  op: string
  args: unknown
  start: number
  meta: { alternate?: Node; macro?: unknown }
  /** Computes a call, an operator or a comprehension from the values that it reads. Exists once the types are checked. */
  handle: Handle
  setMeta(key: 'evaluate', value: Evaluate): void
}

type Context = unknown
type Handle = (...args: unknown[]) => unknown
type Evaluate = (evaluator: Evaluator, node: Node, context: Context) => unknown

interface Evaluator {
  run(node: Node, context: Context): unknown
  tryEval(node: Node, context: Context): unknown
  debugTypeDeep(value: unknown): unknown
}

/** The cost of a node, and the additional cost of calls and operators; the cost of an error, with its stack trace. */
const NODE_COST = 10
const CALL_COST = 60
const OPERATOR_COST = 40
const ERROR_COST = 2000
/** A list or map whose type the library looks up. */
const TYPE_COST = 30

const BINARY_OPERATORS = new Set(['==', '!=', 'in', '+', '-', '*', '/', '%', '<', '<=', '>', '>='])

/** Makes the evaluator of the environment charge for each node, each error, and each value whose type it looks up. */
export function meterEvaluator(environment: Environment): void {
  const probe = environment.parse('true')
  const node = probe.ast as unknown as Node
  node.setMeta('evaluate', evaluator => {
    const { run, debugTypeDeep } = evaluator
    evaluator.run = (node, context) => {
      charge(NODE_COST)
      return run.call(evaluator, node, context)
    }
    evaluator.tryEval = (node, context) => {
      try {
        return evaluator.run(node, context)
      } catch (error) {
        // Throws when no work is left, which also ends the loop.
        charge(ERROR_COST)
        return error
      }
    }
    evaluator.debugTypeDeep = value => {
      if (typeof value === 'object' && value !== null) {
        charge(TYPE_COST)
        // The library reads the first member, and collects all keys for that.
        chargeKeys(value)
      }
      return debugTypeDeep.call(evaluator, value)
    }
    return true
  })
  probe()
}

/**
 * Makes a call charge. `pattern`: the compiled literal of `matches`. The types must be checked already, as in all functions
 * below.
 */
export function meterCall(node: Node, name: string, pattern?: Pattern): void {
  const { handle } = node
  const cost = FUNCTION_COSTS[name] as ((...values: unknown[]) => unknown) | undefined
  const compute = name === 'matches' ? matchWith(pattern) : cost
  node.handle = (values, ...rest) => {
    charge(CALL_COST)
    return compute?.(...(values as unknown[])) ?? handle(values, ...rest)
  }
}

function matchWith(pattern: Pattern | undefined): (...values: unknown[]) => boolean | undefined {
  return (text, source) =>
    typeof text === 'string' && typeof source === 'string' ? matches(text, pattern ?? eventPattern(source)) : undefined
}

/** Makes an operator or the look-up of a member charge. Does nothing for other nodes. */
export function meterOperator(node: Node): void {
  const { op, handle } = node
  if (op !== '[]' && !BINARY_OPERATORS.has(op)) return
  node.handle = (left, right, ...rest) => {
    charge(OPERATOR_COST)
    // The look-up of a member reads its name once; the other operators read their whole operands.
    if (op === '[]') charge(lengthOf(right) / 10)
    else if (typeof left !== 'number' || typeof right !== 'number') chargeOperator(op, left, right)
    return handle(left, right, ...rest)
  }
}

/** Makes a comprehension charge for the keys of a map, which it collects. Its steps are nodes and charge as such. */
export function meterComprehension(node: Node): void {
  const { handle } = node
  node.handle = (over, ...rest) => {
    chargeKeys(over)
    return handle(over, ...rest)
  }
}

/**
 * Builds a map literal without Object.prototype: otherwise it would have a `__proto__` in a comparison with a map of the event.
 * As in the standard implementation, a map has no `constructor`, which the evaluator would take for the map's type.
 */
export function meterMap(node: Node): void {
  node.setMeta('evaluate', (evaluator, { args }, context) => {
    const members: Record<string, unknown> = Object.create(null)
    for (const [key, value] of args as [Node, Node][]) {
      const read = evaluator.run(key, context)
      charge(OPERATOR_COST + lengthOf(read))
      const name = String(read)
      if (name !== 'constructor') members[name] = evaluator.run(value, context)
    }
    return members
  })
}
