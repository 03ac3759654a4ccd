// Expressions that were compiled before: a workflow's are asked for at every event. Compiling again gives the same, so
// what is remembered is only speed.

import { Expression, type Purpose } from './expression.ts'

/** Beyond it the memory starts anew: expressions of workflows long gone must not pile up. */
const CACHE_MAX = 10_000

const cache = new Map<string, Expression>()

/** The compiled expression. Throws ExpressionError, though what was registered is known to compile. */
export function compiled(source: string, purpose: Purpose, options: { inWait?: boolean } = {}): Expression {
  const key = `${purpose}${options.inWait ? '*' : ' '}${source}`
  let expression = cache.get(key)
  if (!expression) {
    expression = new Expression(source, purpose, options)
    if (cache.size >= CACHE_MAX) cache.clear()
    cache.set(key, expression)
  }
  return expression
}
