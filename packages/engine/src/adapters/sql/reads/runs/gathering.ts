// Finds all runs of a list in the order of ids, and then sorts them: for lists in another order whose filters match few runs.
// Called by the page of a list.

import type { RunPosition, RunSort, SortDir } from '../../../../domain/view/run-order.ts'
import { sortKey } from '../../../../domain/view/run-order.ts'
import type { RunView } from '../../../../ports/store-reads.ts'
import type { Query, Row } from '../../description/values.ts'
import { runView } from './run-queries.ts'
import { RUN_SUMMARY, type Slices } from './slices.ts'
import { SORT_COLUMN } from './walks.ts'

/** Most runs that are found first and then sorted: for filters that always find few, and for others. */
const FEW_GATHERED_MAX = 5000
const GATHERED_MAX = 2000
/** Runs that one read finds. */
const AT_ONCE_MAX = 1000

interface Order {
  sort: Exclude<RunSort, 'started'>
  dir: SortDir | undefined
  after: RunPosition | undefined
  limit: number
  /** The filter always finds few runs. */
  isFew: boolean
}

interface Keyed {
  id: string
  key: string | number
}

export class Gathering {
  readonly runs: RunView[] = []
  readonly #slices: Slices
  readonly #order: Order
  readonly #keyed: Keyed[] = []

  constructor(slices: Slices, order: Order) {
    this.#slices = slices
    this.#order = order
  }

  readonly lookedTo: RunPosition | undefined = undefined

  /** Too many runs match to be sorted: this search ends without an answer. */
  get isTooMany(): boolean {
    return this.#keyed.length > (this.#order.isFew ? FEW_GATHERED_MAX : GATHERED_MAX)
  }

  /** Looks at the next runs, and reads the page if they were the last. */
  async isDone(read: (queries: Query[]) => Promise<Row[][]>): Promise<boolean> {
    const sizes = this.#slices.sizesQuery()
    if (sizes) this.#slices.fit((await read([sizes]))[0] as Row[])
    const queries = this.#slices.queries(AT_ONCE_MAX, `id, ${SORT_COLUMN[this.#order.sort]}`)
    const { runs, isEnd } = this.#slices.found(await read(queries), AT_ONCE_MAX)
    for (const [id, key] of runs) this.#keyed.push({ id, key } as Keyed)
    if (this.isTooMany || !isEnd) return false
    await this.#readPage(read)
    return true
  }

  /** Leaves out a run that was erased or got another key meanwhile, and puts the next one in its place. */
  async #readPage(read: (queries: Query[]) => Promise<Row[][]>): Promise<void> {
    const { sort, dir, after, limit } = this.#order
    const sign = dir === 'asc' ? 1 : -1
    const sorted = this.#keyed.sort((a, b) => sign * compared(a, b))
    const from = after === undefined ? 0 : sorted.findIndex(run => sign * compared(run, after as Keyed) > 0)
    let next = from < 0 ? sorted.length : from
    while (this.runs.length < limit && next < sorted.length) {
      const some = sorted.slice(next, next + limit)
      next += some.length
      const [rows] = (await read([summaries(some, limit)])) as [Row[]]
      const byId = new Map(rows.map(runView).map(run => [run.id, run]))
      const unchanged = some.flatMap(({ id, key }) => {
        const run = byId.get(id)
        return run && sortKey(run, sort) === key ? [run] : []
      })
      this.runs.push(...unchanged.slice(0, limit - this.runs.length))
    }
  }
}

/** The text is the same for any number of runs, so that it is prepared once. */
function summaries(runs: readonly Keyed[], limit: number): Query {
  const ids = Array.from({ length: limit }, (_, i) => (runs[i] ?? (runs.at(-1) as Keyed)).id)
  return { sql: `SELECT ${RUN_SUMMARY} FROM runs WHERE id IN (${ids.map(() => '?').join(', ')})`, params: ids }
}

function compared(a: Keyed, b: Keyed): number {
  const byKey = typeof a.key === 'number' ? a.key - (b.key as number) : comparedTexts(a.key, b.key as string)
  return byKey || comparedTexts(a.id, b.id)
}

/** Compares in the order of both databases, which is the order of the texts' bytes in UTF-8. */
function comparedTexts(a: string, b: string): number {
  if (a === b) return 0
  let at = 0
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return rank(a.charCodeAt(at)) - rank(b.charCodeAt(at))
}

/** A surrogate, half of a character beyond the first plane, comes after that whole plane; the end of a text comes first. */
function rank(unit: number): number {
  if (Number.isNaN(unit)) return -1
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}
