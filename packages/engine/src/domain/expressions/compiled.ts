// A cache of compiled expressions: those of a workflow are evaluated at every event.

import { Expression, type Purpose } from './expression.ts'

/** The cache is cleared at this size, so that expressions of removed workflows do not pile up. */
const CACHE_MAX = 10_000

const cache = new Map<string, Expression>()

/** The compiled expression. Throws ExpressionError; registered expressions have been checked to compile. */
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
