// The order of the list of workflows, by one of its columns. Pure.

import type { Stats } from './stats.ts'

/** The parts of a row that the order can use. */
export interface Sorted {
  app: string
  name: string
  stats: Stats | undefined
}

type Key = string | number | undefined

/** The sort key of each column. A workflow without a value comes last, in either direction. */
const KEYS = {
  name: ({ name }) => name,
  app: ({ app }) => app,
  runs: ({ stats }) => stats?.started,
  success: ({ stats }) => {
    const ended = (stats?.succeeded ?? 0) + (stats?.failed ?? 0)
    return stats === undefined || ended === 0 ? undefined : stats.succeeded / ended
  },
  p50: ({ stats }) => stats?.p50Ms,
  p95: ({ stats }) => stats?.p95Ms,
  flight: ({ stats }) => stats?.inFlight,
  held: ({ stats }) => stats?.held,
  failure: ({ stats }) => stats?.lastFailure?.at,
} satisfies Readonly<Record<string, (row: Sorted) => Key>>

export type SortKey = keyof typeof KEYS
export interface Order {
  key: SortKey
  dir: 'asc' | 'desc'
}

const TEXTS: readonly SortKey[] = ['name', 'app']

export const isSortKey = (text: string): text is SortKey => Object.hasOwn(KEYS, text)

/** Returns the order that the URL names. Without one the list keeps the engine's order: by app and name. */
export function orderOf(sort: string | undefined, dir: string | undefined): Order | undefined {
  if (sort === undefined || !isSortKey(sort)) return undefined
  return { key: sort, dir: dir === 'asc' || dir === 'desc' ? dir : firstDir(sort) }
}

/** Returns a column's first direction: names begin at A, numbers at the largest. */
const firstDir = (key: SortKey) => (TEXTS.includes(key) ? 'asc' : 'desc')

/** Returns the order after a press on a column: its first direction, then the other one, then none. */
export function nextOrder(order: Order | undefined, key: SortKey): Order | undefined {
  const first = firstDir(key)
  if (order?.key !== key) return { key, dir: first }
  return order.dir === first ? { key, dir: first === 'asc' ? 'desc' : 'asc' } : undefined
}

/** Returns the rows in the order. Equal rows keep their places. */
export function sorted<Row extends Sorted>(rows: readonly Row[], order: Order | undefined): readonly Row[] {
  if (order === undefined) return rows
  const sign = order.dir === 'asc' ? 1 : -1
  const keyOf = KEYS[order.key] as (row: Sorted) => Key
  return rows.toSorted((one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)]
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
    return a === b ? 0 : a < b ? -sign : sign
  })
}
