// The workflows whose held runs no sentence about a limit explains. Pure.

import { type Limit, waitingOf } from '../limits/limit.ts'

interface Held {
  app: string
  workflow: string
  held: number
}

/**
 * A limit does not say of which workflows its waiting runs are. A run waits for one limit: where as many runs wait for those of an app,
 * or of the namespace, as are held there, none is held otherwise. `isPart`: there are more workflows than these, so that the held
 * runs are not all counted.
 */
export function unexplained<Row extends Held>(rows: readonly Row[], limits: readonly Limit[], isPart = false): Row[] {
  const held = sums(rows.map(row => [row.app, row.held]))
  const waiting = sums(limits.map(limit => [limit.app, atLeast(waitingOf(limit))]))
  const areExplained = (app?: string) => !isPart && (waiting.get(app) ?? 0) >= (held.get(app) ?? 0)
  const named = new Set(limits.filter(limit => waitingOf(limit) !== 0).map(keyOf))
  return rows.filter(row => row.held > 0 && !named.has(keyOf(row)) && !areExplained() && !areExplained(row.app))
}

/** By app, and of all under `undefined`. */
function sums(counts: readonly (readonly [app: string | undefined, count: number])[]): Map<string | undefined, number> {
  const sums = new Map<string | undefined, number>()
  for (const [app, count] of counts)
    for (const of of new Set([app, undefined])) sums.set(of, (sums.get(of) ?? 0) + count)
  return sums
}

/** A text such as `10000+` says the least that it can be. */
const atLeast = (count: number | string) => Number.parseInt(String(count), 10)

const keyOf = ({ app, workflow }: { app?: string; workflow?: string }) => `${app}/${workflow}`
