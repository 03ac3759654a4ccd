// The list of runs: which index a page walks, and how a walk that has to look at many runs is cut into small reads
// (docs/decisions/0005-run-lists.md). Called by the reads.

import { RUN_STATUSES } from '@perdure/protocol'
import { isTerminal, type RunStatus } from '../../../domain/model/run.ts'
import type { RunPosition } from '../../../domain/view/run-order.ts'
import type { RunQuery } from '../../../ports/store-reads.ts'
import type { Query, Row, Value } from '../description/values.ts'
import { RUNS } from '../tables/runs.ts'
import {
  allOf,
  equals,
  type FilterName,
  filterTerms,
  havingAll,
  inNamespace,
  matchedStatuses,
  type Term,
} from './run-filter.ts'
import { CURRENT_STEP } from './run-queries.ts'

const RUN_SUMMARY = RUNS.selectWithout('input', 'result', 'eventIds')

/** How many runs one read looks at, at first and at most. */
const SCAN_FIRST = 200
const SCAN_MAX = 2000
/** A deep search may meet megabytes in a run: a read ends with the run that brings it over so many bytes. */
const DEEP_SCAN_MAX = 200
const DEEP_BYTES_MAX = 2 * 1024 * 1024
/** Bytes of what a deep search reads of a run. Neither database loads the texts for it. */
const DEEP_BYTES = `coalesce(octet_length(input), 0) + coalesce(octet_length(result), 0)
  + coalesce(octet_length(error), 0)
  + coalesce((SELECT octet_length(body) FROM payloads WHERE payloads.id = runs.id), 0)`

const SORT_COLUMN = {
  workflow: 'workflow',
  status: 'status',
  app: 'app',
  duration: 'duration_ms',
} as const

/**
 * Whether a filter has an index in the order of ids, the narrowest first. The type demands an entry for each. `few`: it matches
 * so few runs that the runs are found first and then sorted, in any order.
 */
const INDEXED: { readonly [Name in FilterName]: 'few' | 'many' | 'none' } = {
  ids: 'few',
  replayOf: 'few',
  eventId: 'few',
  parentRunId: 'few',
  // Its index is a table of its own.
  attribute: 'many',
  error: 'many',
  waitingFor: 'many',
  runner: 'many',
  status: 'many',
  workflow: 'many',
  app: 'many',
  // Only the runs of schedules have an index.
  runType: 'none',
  // Part of every index, since ids begin with their time.
  since: 'none',
  until: 'none',
  q: 'none',
}
export const FILTERS_BY_ID = (Object.keys(INDEXED) as FilterName[]).filter(name => INDEXED[name] !== 'none')
const TIMES = ['since', 'until'] as const
const LIVE_STATUSES = RUN_STATUSES.filter(status => !isTerminal(status))
const FEW = FILTERS_BY_ID.filter(name => INDEXED[name] === 'few')

/** The table of attributes as a walk sees it: a run for each. */
const ATTRIBUTED = '(SELECT namespace, attribute, run_id AS id FROM run_attributes) AS runs'
/** Runs with an attribute are found first, and then sorted, if they are not more. */
const SORTED_MAX = 5000

/** Counts the runs with each attribute of the query, where the count decides how the list is walked. */
export function attributeCountQueries(namespace: string, query: RunQuery): Query[] {
  const { attribute = [] } = query
  if (attribute.length === 0 || (attribute.length === 1 && orderOf(query).length === 1)) return []
  return attribute.map(text => ({
    sql: 'SELECT count(*) FROM (SELECT 1 FROM run_attributes WHERE namespace = ? AND attribute = ? LIMIT ?) AS first',
    params: [namespace, text, SORTED_MAX + 1],
  }))
}

/** A walk along one index, or along two at once. */
interface Walk {
  /** The table of attributes, where the walk is along it. */
  source: 'runs' | typeof ATTRIBUTED
  /** Lists of terms, each answered by an index in the walk's order; the walk merges them. */
  branches: Term[][]
  /** Terms that each run on the way must be compared with. */
  rest: Term[]
  /** The columns of the order. */
  order: string[]
  dir: 'ASC' | 'DESC'
}

/** The reads that make one page. Each goes on where the one before stopped. */
export class RunListing {
  readonly #walk: Walk
  readonly #isDeep: boolean
  #scan = SCAN_FIRST
  #after: RunPosition | undefined

  /** `counts`: the results of `attributeCountQueries`. */
  constructor(namespace: string, query: RunQuery, counts: readonly number[] = []) {
    this.#walk = walkOf(namespace, narrowestFirst(query, counts), Math.min(...counts) <= SORTED_MAX)
    this.#isDeep = query.q !== undefined && query.deep === true
    this.#after = query.after
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
    this.#scan = last < 0 ? DEEP_SCAN_MAX : last + 1
  }

  /**
   * Queries for the next runs of the page: rows for `runView`, at most `limit`; then, when there may be more on the
   * way, the one row at which this read stops.
   */
  queries(limit: number): Query[] {
    const { rest } = this.#walk
    if (rest.length === 0) return [this.#found(this.#walked(['id'], limit), limit)]
    const columns = [...new Set(['id', ...rest.flatMap(term => term.columns)])]
    const walked = this.#walked(columns, this.#scan)
    const { terms, params } = allOf(rest)
    const matching = {
      sql: `SELECT id FROM (${walked.sql}) AS runs WHERE ${terms.join(' AND ')}
        ORDER BY ${this.#order()} LIMIT ?`,
      params: [...walked.params, ...params, limit],
    }
    const last = this.#walked([], 1)
    return [this.#found(matching, limit), { sql: `${last.sql} OFFSET ?`, params: [...last.params, this.#scan - 1] }]
  }

  /** The position up to which all runs were looked at, once a read has stopped on the way. */
  get lookedTo(): RunPosition | undefined {
    return this.#after
  }

  /** Continues after the row at which the last read stopped; false when that read reached the end. */
  goOn(stop: readonly Value[] | undefined): boolean {
    if (stop === undefined) return false
    const [id, key] = [stop.at(-1) as string, stop[0] as string | number]
    this.#after = stop.length === 1 ? { id } : { key, id }
    this.#scan = Math.min(this.#scan * 2, SCAN_MAX)
    return true
  }

  #found(ids: Query, limit: number): Query {
    return {
      sql: `SELECT ${RUN_SUMMARY}, ${CURRENT_STEP} FROM runs WHERE id IN (${wrapped(ids.sql)})
        ORDER BY ${this.#order()} LIMIT ?`,
      params: [...ids.params, limit],
    }
  }

  /** The first `count` runs of the walk after the position, whether they match the rest or not. */
  #walked(columns: readonly string[], count: number): Query {
    const { branches, order, source } = this.#walk
    if (source === ATTRIBUTED && columns.some(column => column !== 'id')) {
      const ids = this.#walked([], count)
      const selected = [...new Set(['id', ...columns])].join(', ')
      const sql = `SELECT ${selected} FROM runs WHERE id IN (${wrapped(ids.sql)}) ORDER BY ${this.#order()}`
      return { sql, params: ids.params }
    }
    const selected = [...new Set([...order, ...columns])].join(', ')
    const position = this.#behind()
    const lists = branches.map(branch => allOf([...branch, ...position]))
    const sql = lists.map(({ terms }) => `SELECT ${selected} FROM ${source} WHERE ${terms.join(' AND ')}`)
    return {
      sql: `${sql.join(' UNION ALL ')} ORDER BY ${this.#order()} LIMIT ?`,
      params: [...lists.flatMap(({ params }) => params), count],
    }
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

function narrowestFirst(query: RunQuery, counts: readonly number[]): RunQuery {
  const { attribute } = query
  if (attribute === undefined || counts.length < 2) return query
  const ranked = attribute.map((text, i) => [text, counts[i] as number] as const).sort(([, a], [, b]) => a - b)
  return { ...query, attribute: ranked.map(([text]) => text) }
}

/** Along the attribute that comes first; `isFew`: so few runs have it that they are sorted. */
function walkOf(namespace: string, query: RunQuery, isFew: boolean): Walk {
  const [attribute, ...others] = query.attribute ?? []
  const order = orderOf(query)
  const led = leads(order, query)
  const byIndex = walkAlong(namespace, query, led)
  if (attribute === undefined) return byIndex
  if (led[0] === 'attribute') {
    const rest = others.length === 0 ? byIndex.rest : [...byIndex.rest, havingAll(others)]
    return { ...byIndex, source: ATTRIBUTED, rest }
  }
  if (!isFew || order.length === 1 || FEW.some(name => query[name] !== undefined)) return byIndex
  const sql = 'id IN (SELECT run_id FROM run_attributes WHERE namespace = ? AND attribute = ?)'
  const found: Term = { sql, params: [namespace, attribute], columns: ['id'] }
  return { ...byIndex, branches: byIndex.branches.map(branch => [...branch, found]) }
}

function walkAlong(namespace: string, query: RunQuery, led: readonly FilterName[]): Walk {
  const [attribute] = query.attribute ?? []
  const terms = filterTerms(query)
  if (led.includes('attribute')) terms.set('attribute', equals('attribute', attribute as string))
  const others = led.filter(name => name !== 'status').map(name => terms.get(name) as Term)
  // A walk along the index by status is the merged walks of each status.
  const branches = led.includes('status')
    ? statusesOf(query).map(status => [equals('status', status), ...others])
    : [others]
  return {
    branches: branches.map(branch => [inNamespace(namespace), ...branch]),
    source: 'runs',
    rest: [...terms].filter(([name]) => !led.includes(name)).map(([, term]) => term),
    order: orderOf(query),
    dir: query.dir === 'asc' ? 'ASC' : 'DESC',
  }
}

/** Runs that all have one value of the key, as those of one app sorted by app, are in the order of ids. */
function orderOf(query: RunQuery): string[] {
  const { sort = 'started' } = query
  return sort === 'started' || isOneValue(sort, query) ? ['id'] : [SORT_COLUMN[sort], 'id']
}

function isOneValue(sort: keyof typeof SORT_COLUMN, query: RunQuery): boolean {
  // A fingerprint is of one app and workflow, and of failed runs; a run that waits has no duration yet.
  if (sort === 'duration') return query.waitingFor !== undefined
  if (query.error !== undefined) return true
  return sort === 'status' ? statusesOf(query).length === 1 : query[sort] !== undefined
}

/** The statuses that matching runs may have. */
function statusesOf({ status, waitingFor }: RunQuery): readonly RunStatus[] {
  if (status) return matchedStatuses(status)
  return waitingFor === undefined ? RUN_STATUSES : LIVE_STATUSES
}

/** The filters that the walked index answers. */
function leads(order: readonly string[], query: RunQuery): FilterName[] {
  const has = (name: FilterName) => query[name] !== undefined
  if (order.length > 1) {
    const few = FEW.find(has)
    if (few) return [few]
    return query.sort === 'status' && (has('status') || has('waitingFor')) ? ['status'] : []
  }
  // Most runs have succeeded: a workflow or an app has fewer.
  const last = query.status?.includes('succeeded') ? 'status' : undefined
  const present = FILTERS_BY_ID.filter(has)
  const first = present.find(name => name !== last) ?? present[0] ?? (query.runType === 'cron' ? 'runType' : undefined)
  return [...(first ? [first] : []), ...TIMES.filter(has)]
}
