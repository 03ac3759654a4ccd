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

/** How many runs one read looks at, at first and at most, and the cost of a run: with their rows, or in an index alone. */
const SCAN = { first: 200, max: 2000, cost: 20 }
const COVERED_SCAN = { first: 1000, max: 40_000, cost: 1 }
/** Each read along a walk looks at this many times the runs of the previous read. */
const GROWTH = 6
/** A deep search may read megabytes for each run. A read ends with the run that takes it over this many bytes. */
const DEEP_SCAN_MAX = 200
const DEEP_BYTES_MAX = 2 * 1024 * 1024
/** The bytes that a deep search reads for a run. Neither database loads the texts to count them. */
const DEEP_BYTES = `coalesce(octet_length(input), 0) + coalesce(octet_length(result), 0)
  + coalesce(octet_length(error), 0)
  + coalesce((SELECT octet_length(body) FROM payloads WHERE payloads.id = runs.id), 0)`

/** Comes after every id. */
export const AFTER_ALL = '~'

interface SlicesOptions {
  /** Walks that find the same runs in the same order: the slices choose among them. */
  walks: readonly [Walk, ...Walk[]]
  after: RunPosition | undefined
  /** The rest reads the texts of runs. */
  isDeep: boolean
}

/** The reads of walks in one order. Each continues where the previous one stopped. */
export class Slices {
  readonly #walks: readonly Walk[]
  readonly #choice: WalkChoice
  readonly #isDeep: boolean
  /** Reads along each walk. */
  readonly #reads: number[]
  #fitting: number | undefined
  #after: RunPosition | undefined

  constructor({ walks, after, isDeep }: SlicesOptions) {
    this.#walks = walks
    this.#reads = walks.map(() => 0)
    this.#choice = new WalkChoice(walks.length)
    this.#isDeep = isDeep
    this.#after = after
  }

  /** One row for each of the next runs, for `fit`; undefined if the next read is small anyway. */
  sizesQuery(): Query | undefined {
    return this.#isDeep ? this.#walked([`${DEEP_BYTES} AS bytes`], DEEP_SCAN_MAX) : undefined
  }

  /** Makes the next read look at as many runs as fit in it, and at least one. */
  fit(sizes: readonly Row[]): void {
    let bytes = 0
    const last = sizes.findIndex(row => {
      bytes += row.at(-1) as number
      return bytes > DEEP_BYTES_MAX
    })
    this.#fitting = last < 0 ? DEEP_SCAN_MAX : last + 1
  }

  /**
   * Queries for the next runs: at most `limit` rows with the selection, in the order. A walk that compares runs on its way also
   * finds the place at which this read stops, if there may be more behind it.
   */
  queries(limit: number, selection = RUN_SUMMARY): Query[] {
    const { rest } = this.#walk
    const found = (ids: Query): Query => ({
      sql: `SELECT ${selection} FROM runs WHERE id IN (${wrapped(ids.sql)}) ORDER BY ${this.#order()} LIMIT ?`,
      params: [...ids.params, limit],
    })
    if (rest.length === 0) return [found(this.#walked(['id'], limit))]
    if (this.#isPassed) return [this.#passed(limit, selection)]
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

  /** Returns the runs in these rows of `queries`. The next read continues after everything that this one looked at. */
  found([rows = [], stops]: Row[][], limit: number): { runs: Row[]; isEnd: boolean } {
    const isPassed = this.#isPassed
    const last = rows.at(-1)
    const stop = isPassed && last?.at(-1) ? last : undefined
    const runs = stop && !stop.at(-2) ? rows.slice(0, -1) : rows
    if (runs.length === limit) {
      if (this.#walk.order.length === 1) this.#after = { id: (isPassed ? last?.at(-3) : last?.[0]) as string }
      return { runs, isEnd: false }
    }
    return { runs, isEnd: !this.#goOn(isPassed ? stop && [stop.at(-3) as Value] : stops?.[0]) }
  }

  /** The position up to which all runs were looked at, once a read has stopped on the way. */
  get lookedTo(): RunPosition | undefined {
    return this.#after
  }

  /** Continues after the row at which the last read stopped; false when that read reached the end. */
  #goOn(stop: readonly Value[] | undefined): boolean {
    if (stop === undefined) return false
    const [id, key] = [stop.at(-1) as string, stop[0] as string | number]
    const cost = this.#scan * this.#scanned.cost
    const walk = this.#choice.current
    this.#reads[walk] = (this.#reads[walk] as number) + 1
    this.#choice.wentOn(this.#after?.id, id, cost)
    this.#after = stop.length === 1 ? { id } : { key, id }
    return true
  }

  /**
   * Whether one query compares the runs on its way and finds its stop: along one column, in an index that has all the others.
   * With rows, or along two columns, SQLite saves nothing by it, and PostgreSQL takes a worse plan.
   */
  get #isPassed(): boolean {
    const { isCovered, rest, order } = this.#walk
    return rest.length > 0 && isCovered && order.length === 1
  }

  get #walk(): Walk {
    return this.#walks[this.#choice.current] as Walk
  }

  /** Runs that the next read looks at. */
  get #scan(): number {
    if (this.#fitting !== undefined) return this.#fitting
    const { first, max } = this.#scanned
    return Math.min(first * GROWTH ** (this.#reads[this.#choice.current] as number), max)
  }

  get #scanned(): typeof SCAN {
    return this.#walk.isCovered ? COVERED_SCAN : SCAN
  }

  /**
   * The runs between the position and the stop that match the rest, and the stop itself. SQLite compares inside the walk at half the
   * cost of a comparison around it. CASE keeps planners from choosing another index for the rest. The selected columns are followed
   * by the id, whether the run matches, and whether it is the stop.
   */
  #passed(limit: number, selection: string): Query {
    const { branches, source, rest, dir } = this.#walk
    const [stop, matches] = [this.#walked([], 1, this.#scan - 1), allOf(rest)]
    const test = matches.terms.join(' AND ')
    const lists = branches.map(branch => {
      const { terms, params } = allOf([...branch, ...this.#behind()])
      const sql = `SELECT id AS passed, CASE WHEN id <> (SELECT id FROM stop) THEN 1 WHEN ${test} THEN 1 ELSE 0 END AS matches
        FROM ${source} WHERE ${terms.join(' AND ')} AND id ${dir === 'ASC' ? '<=' : '>='} (SELECT id FROM stop)
          AND CASE WHEN ${test} THEN 1 WHEN id = (SELECT id FROM stop) THEN 1 ELSE 0 END = 1
        ORDER BY id ${dir} LIMIT ?`
      return { sql, params: [...matches.params, ...params, ...matches.params, limit] }
    })
    const merged = lists.map(({ sql }) => `SELECT * FROM (${sql}) AS list`).join(' UNION ALL ')
    const sql = `WITH stop AS MATERIALIZED (SELECT coalesce(max(id), '${dir === 'ASC' ? AFTER_ALL : ''}') AS id FROM (${stop.sql}) AS last)
      SELECT ${selection}, passed, matches, passed = (SELECT id FROM stop)
      FROM (${merged} ORDER BY passed ${dir} LIMIT ?) AS list CROSS JOIN runs WHERE runs.id = passed ORDER BY passed ${dir}`
    return { sql, params: [...stop.params, ...lists.flatMap(({ params }) => params), limit] }
  }

  /** `count` runs of the walk after the position and `skipped` others, whether or not they match the rest. */
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

  /** PostgreSQL would read each list to its end and sort them all, instead of merging them. */
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
