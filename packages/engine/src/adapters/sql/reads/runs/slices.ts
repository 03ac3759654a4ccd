// How a walk that has to look at many runs is cut into small reads (docs/decisions/0005-run-lists.md). Called by the page of a
// list.

import type { RunPosition } from '../../../../domain/view/run-order.ts'
import type { Query, Row, Value } from '../../description/values.ts'
import { RUNS } from '../../tables/runs.ts'
import { allOf, type Term } from './run-filter.ts'
import { CURRENT_STEP } from './run-queries.ts'
import { WalkChoice } from './walk-choice.ts'
import { ATTRIBUTED, type Walk } from './walks.ts'

/** Rows for `runView`. */
export const RUN_SUMMARY = `${RUNS.selectWithout('input', 'result', 'eventIds', 'progress')}, ${CURRENT_STEP}`

/** How many runs one read looks at, at first and at most: with their rows, or in an index alone. */
const SCAN = { first: 200, max: 2000 }
const COVERED_SCAN = { first: 2000, max: 20_000 }
/** A deep search may meet megabytes in a run: a read ends with the run that brings it over so many bytes. */
const DEEP_SCAN_MAX = 200
const DEEP_BYTES_MAX = 2 * 1024 * 1024
/** Bytes of what a deep search reads of a run. Neither database loads the texts for it. */
const DEEP_BYTES = `coalesce(octet_length(input), 0) + coalesce(octet_length(result), 0)
  + coalesce(octet_length(error), 0)
  + coalesce((SELECT octet_length(body) FROM payloads WHERE payloads.id = runs.id), 0)`

interface SlicesOptions {
  /** Walks that find the same runs in the same order: the slices choose among them. */
  walks: readonly [Walk, ...Walk[]]
  after: RunPosition | undefined
  /** The rest reads the texts of runs. */
  isDeep: boolean
}

/** The reads of walks of one order. Each goes on where the one before stopped. */
export class Slices {
  readonly #walks: readonly Walk[]
  readonly #choice: WalkChoice
  readonly #isDeep: boolean
  #reads = 0
  #fitting: number | undefined
  #after: RunPosition | undefined

  constructor({ walks, after, isDeep }: SlicesOptions) {
    this.#walks = walks
    this.#choice = new WalkChoice(walks.length)
    this.#isDeep = isDeep
    this.#after = after
  }

  /** One row for each of the next runs, for `fit`; undefined where the next read is small anyway. */
  sizesQuery(): Query | undefined {
    return this.#isDeep ? this.#walked([`${DEEP_BYTES} AS bytes`], DEEP_SCAN_MAX) : undefined
  }

  /** Lets the next read look at as many runs as fit in it, and one at least. */
  fit(sizes: readonly Row[]): void {
    let bytes = 0
    const last = sizes.findIndex(row => {
      bytes += row.at(-1) as number
      return bytes > DEEP_BYTES_MAX
    })
    this.#fitting = last < 0 ? DEEP_SCAN_MAX : last + 1
  }

  /**
   * Queries for the next runs: at most `limit` rows with the selection, in the order; then, when there may be more on the way, the
   * one row at which this read stops.
   */
  queries(limit: number, selection = RUN_SUMMARY): Query[] {
    const { rest } = this.#walk
    const found = (ids: Query): Query => ({
      sql: `SELECT ${selection} FROM runs WHERE id IN (${wrapped(ids.sql)}) ORDER BY ${this.#order()} LIMIT ?`,
      params: [...ids.params, limit],
    })
    if (rest.length === 0) return [found(this.#walked(['id'], limit))]
    const columns = [...new Set(['id', ...rest.flatMap(term => term.columns)])]
    const walked = this.#walked(columns, this.#scan)
    const { terms, params } = allOf(rest)
    const matching = {
      sql: `SELECT id FROM (${walked.sql}) AS runs WHERE ${terms.join(' AND ')}
        ORDER BY ${this.#order()} LIMIT ?`,
      params: [...walked.params, ...params, limit],
    }
    return [found(matching), this.#walked([], 1, this.#scan - 1)]
  }

  /** The position up to which all runs were looked at, once a read has stopped on the way. */
  get lookedTo(): RunPosition | undefined {
    return this.#after
  }

  /** Continues after the row at which the last read stopped; false when that read reached the end. */
  goOn(stop: readonly Value[] | undefined): boolean {
    if (stop === undefined) return false
    const [id, key] = [stop.at(-1) as string, stop[0] as string | number]
    const looked = this.#scan
    this.#reads++
    this.#choice.wentOn(this.#after?.id, id, looked)
    this.#after = stop.length === 1 ? { id } : { key, id }
    return true
  }

  /** Continues after a run that the last read found, when that read was full. */
  goOnAfter(position: RunPosition): void {
    this.#after = position
  }

  get #walk(): Walk {
    return this.#walks[this.#choice.current] as Walk
  }

  /** Runs that the next read looks at. */
  get #scan(): number {
    if (this.#fitting !== undefined) return this.#fitting
    const { first, max } = this.#walk.isCovered ? COVERED_SCAN : SCAN
    return Math.min(first * 2 ** this.#reads, max)
  }

  /** `count` runs of the walk after the position and `skipped` others, whether they match the rest or not. */
  #walked(columns: readonly string[], count: number, skipped = 0): Query {
    const { branches, order, source, isCovered } = this.#walk
    if (source === ATTRIBUTED && !isCovered && columns.some(column => column !== 'id')) {
      const ids = this.#walked([], count, skipped)
      const selected = [...new Set(['id', ...columns])].join(', ')
      const sql = `SELECT ${selected} FROM runs WHERE id IN (${wrapped(ids.sql)}) ORDER BY ${this.#order()}`
      return { sql, params: ids.params }
    }
    const selected = [...new Set([...order, ...columns])].join(', ')
    const position = this.#behind()
    const lists = branches.map(branch => {
      const { terms, params } = allOf([...branch, ...position])
      return { sql: `SELECT ${selected} FROM ${source} WHERE ${terms.join(' AND ')}`, params }
    })
    const merged = lists.length === 1 ? lists : lists.map(list => this.#first(list, count + skipped))
    return {
      sql: `${merged.map(({ sql }) => sql).join(' UNION ALL ')} ORDER BY ${this.#order()} LIMIT ? OFFSET ?`,
      params: [...merged.flatMap(({ params }) => params), count, skipped],
    }
  }

  /** PostgreSQL would read each list to its end and sort them all, rather than merge them. */
  #first({ sql, params }: Query, count: number): Query {
    const limited = `SELECT * FROM (${sql} ORDER BY ${this.#order()} LIMIT ?) AS list`
    return { sql: limited, params: [...params, count] }
  }

  #behind(): Term[] {
    if (!this.#after) return []
    const { order, dir } = this.#walk
    const { key = '', id } = this.#after
    const params = order.length === 1 ? [id] : [key, id]
    const sql = `(${order.join(', ')}) ${dir === 'ASC' ? '>' : '<'} (${params.map(() => '?').join(', ')})`
    return [{ sql, params, columns: order }]
  }

  #order(): string {
    return this.#walk.order.map(column => `${column} ${this.#walk.dir}`).join(', ')
  }
}

function wrapped(sql: string): string {
  return `SELECT id FROM (${sql}) AS list`
}
