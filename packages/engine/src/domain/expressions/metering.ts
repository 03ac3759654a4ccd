// Makes the tree of an expression charge its work (meter.ts): replaces how calls, operators, comprehensions and map literals
// are evaluated by functions that charge first. Called once per expression, when it is compiled.

import { chargeOperator, chargeTypeOf, FUNCTION_COSTS, keysOf, lengthOf } from './cost.ts'
import { charge } from './meter.ts'
import { eventPattern, matches, type Pattern } from './pattern.ts'

/** A node of the library's tree, with what the library's own evaluation reads of it. */
export interface Node {
  op: string
  args: unknown
  start: number
  left: Node
  right: Node
  receiverWithArgs: Node[]
  meta: { alternate?: Node; macro?: unknown }
  handle(...args: unknown[]): unknown
  setMeta(key: 'evaluate', value: Evaluate): void
}

type Context = unknown

interface Evaluator {
  run(node: Node, context: Context): unknown
  tryEval(node: Node, context: Context): unknown
}

type Evaluate = (evaluator: Evaluator, node: Node, context: Context) => unknown

/** Units of work of a node, and what the calls and operators among them cost more; of an error, with its stack trace. */
const NODE_UNITS = 10
const CALL_UNITS = 60
const OPERATOR_UNITS = 40
const ERROR_UNITS = 2000

export const BINARY_OPERATORS = new Set(['==', '!=', 'in', '+', '-', '*', '/', '%', '<', '<=', '>', '>='])

/** Makes a call charge. `pattern`: the compiled literal of `matches`. */
export function meterCall(node: Node, name: string, pattern?: Pattern): void {
  const cost = FUNCTION_COSTS[name] as ((...args: unknown[]) => unknown) | undefined
  node.setMeta('evaluate', (evaluator, { op, args, receiverWithArgs, handle }, context) => {
    charge(CALL_UNITS)
    const values = valuesOf(op === 'rcall' ? receiverWithArgs : ((args as unknown[])[1] as Node[]), evaluator, context)
    for (const value of values) chargeTypeOf(value)
    if (name === 'matches') {
      const [text, source] = values
      if (typeof text === 'string' && typeof source === 'string') return matches(text, pattern ?? eventPattern(source))
    } else {
      const value = cost?.(...values)
      if (value !== undefined) return value
    }
    return op === 'rcall' ? handle.call(node, values, evaluator, node) : handle.call(node, values, node, evaluator)
  })
}

/** The arguments, evaluated from the last to the first, as the library does. */
function valuesOf(nodes: readonly Node[], evaluator: Evaluator, context: Context): unknown[] {
  const values = new Array<unknown>(nodes.length)
  for (let i = nodes.length - 1; i >= 0; i--) values[i] = evaluator.run(nodes[i] as Node, context)
  return values
}

export function meterOperator(node: Node): void {
  node.setMeta('evaluate', (evaluator, { op, left, right }, context) => {
    charge(OPERATOR_UNITS)
    const [a, b] = [evaluator.run(left, context), evaluator.run(right, context)]
    // The look-up of a member reads its name once; the other operators read through their operands.
    if (op === '[]') charge(lengthOf(b) / 10)
    else if (typeof a !== 'number' || typeof b !== 'number') chargeOperator(op, a, b)
    return node.handle(a, b, node, evaluator)
  })
}

/**
 * Builds a map literal without Object.prototype: compared with a map of the event, it would otherwise have a `__proto__`.
 * As in the standard implementation, a map has no `constructor`, which the evaluator would take for the map's type.
 */
export function meterMap(node: Node): void {
  node.setMeta('evaluate', (evaluator, { args }, context) => {
    const members: Record<string, unknown> = Object.create(null)
    for (const [key, value] of args as [Node, Node][]) {
      const read = evaluator.run(key, context)
      charge(OPERATOR_UNITS + lengthOf(read))
      const name = String(read)
      if (name !== 'constructor') members[name] = evaluator.run(value, context)
    }
    return members
  })
}

/** The form in which the library has `all`, `exists`, `exists_one`, `map` and `filter`. */
interface Comprehension {
  iterable: Node
  init: Node
  step: Node
  errorsAreFatal: boolean
  condition?(result: unknown): boolean
  result(result: unknown): unknown
  iterCtx: { reuse(outer: Context): Loop }
}

interface Loop {
  accuValue: unknown
  setIterValue(value: unknown, evaluator: Evaluator): Loop
}

/** Makes a comprehension charge for each element. `nodes`: the size of what it evaluates each time. */
export function meterComprehension(node: Node, nodes: number): void {
  const units = OPERATOR_UNITS + nodes * NODE_UNITS
  node.setMeta('evaluate', (evaluator, { args }, context) => {
    const comprehension = args as Comprehension
    evaluator.tryEval = tryToEvaluate
    const over = evaluator.run(comprehension.iterable, context)
    // Anything else is an error, in the library's words.
    if (typeof over !== 'object' || over === null) return node.handle(over, comprehension, evaluator, context)
    return iterate(comprehension, Array.isArray(over) ? over : keysOf(over), { evaluator, context, units })
  })
}

/** As the library does it, except that an error which ends the whole evaluation ends the loop. */
function iterate(
  { init, step, errorsAreFatal, condition, result, iterCtx }: Comprehension,
  items: readonly unknown[],
  { evaluator, context, units }: { evaluator: Evaluator; context: Context; units: number },
): unknown {
  const loop = iterCtx.reuse(context)
  let value = evaluator.run(init, loop)
  let error: Error | undefined
  loop.accuValue = value
  for (const item of items) {
    if (condition && !condition(value)) return result(value)
    charge(units)
    loop.setIterValue(item, evaluator)
    const next = errorsAreFatal ? evaluator.run(step, loop) : evaluator.tryEval(step, loop)
    if (next instanceof Error) error ??= next
    else value = next
  }
  if (error && condition?.(value)) throw error
  return result(value)
}

/** The library's `tryEval`, except that it charges for the error. */
function tryToEvaluate(this: Evaluator, node: Node, context: Context): unknown {
  try {
    return this.run(node, context)
  } catch (error) {
    charge(ERROR_UNITS)
    return error
  }
}

/** Units of work of a tree that is evaluated once. */
export function unitsOf(nodes: number): number {
  return nodes * NODE_UNITS
}
