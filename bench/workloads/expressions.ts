// CEL: how long hostile expressions block the event loop, compiled and evaluated on large events designed for them, and the cost
// of an ordinary filter. Runs in the bench's process, without an engine.

import { Expression, ExpressionError } from '../../packages/engine/src/domain/expressions/expression.ts'
import { heavy, tooLarge } from '../../packages/engine/src/domain/expressions/hostile.testkit.ts'
import { generateHostile } from '../../packages/engine/src/domain/expressions/hostile-generator.testkit.ts'
import type { Outcome } from '../report/report.ts'

const FILTER = 'event.data.total > 100 && event.data.country in ["DE", "FR"]'
const [GENERATED, SEED] = [300, 20_261]
/** Number of events with different patterns, to measure the memory that they leave behind. */
const PATTERNS = 5000
const EVALUATIONS = 1_000_000
/** The best of this many runs counts: the first one includes JIT compilation. */
const TURNS = 3
const [HELD_MS, LONG_MS] = [20, 50]

export async function expressions(): Promise<Outcome> {
  const times = [...tooLarge, ...heavy].map(([name, of]) => worst(typeof of === 'string' ? of : name, of))
  for (const { source, data } of generateHostile(SEED, GENERATED)) times.push(worst(source, data))
  const evaluated = filterCost()
  return {
    title: `${times.length} hostile expressions, and one filter`,
    figures: {
      'hostile ms': {
        worst: Math.max(...times),
        [`over ${HELD_MS}`]: times.filter(ms => ms > HELD_MS).length,
        [`over ${LONG_MS}`]: times.filter(ms => ms > LONG_MS).length,
      },
      filter: { 'us each': evaluated },
      [`${PATTERNS} patterns of events`]: { 'heap MiB': heapOfPatterns() },
    },
    notes: ['each hostile expression is compiled and evaluated in one go, the best of three attempts'],
  }
}

/** Returns the worst times in ms. `data` is the source itself if compilation is expected to fail. */
function worst(source: string, data: unknown): number {
  const times = Array.from({ length: TURNS }, () => {
    const from = performance.now()
    try {
      new Expression(source, 'condition').holds({ event: { name: 'hostile', data } })
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error
    }
    return performance.now() - from
  })
  return Math.min(...times)
}

function filterCost(): number {
  const filter = new Expression(FILTER, 'condition')
  const scope = { event: { name: 'order', data: { total: 150, country: 'FR' } } }
  const from = performance.now()
  for (let i = 0; i < EVALUATIONS; i++) filter.holds(scope)
  return ((performance.now() - from) * 1000) / EVALUATIONS
}

/**
 * Returns how much the heap grows through events that each bring a different pattern. Run node with --expose-gc for a figure
 * without garbage.
 */
function heapOfPatterns(): number {
  const expression = new Expression('event.data.text.matches(event.data.pattern)', 'condition')
  const match = (i: number) =>
    expression.holds({ event: { name: 'a', data: { text: 'ab'.repeat(50), pattern: `^(a|b){1,9}${i}` } } })
  for (let i = 0; i < 100; i++) match(i)
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < PATTERNS; i++) match(i)
  globalThis.gc?.()
  return (process.memoryUsage().heapUsed - before) / 2 ** 20
}
