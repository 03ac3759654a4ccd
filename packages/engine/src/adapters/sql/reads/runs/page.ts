// One page of the list of runs: which searches find it, and in which order they read (docs/decisions/0005-run-lists.md). Called
// by the reads.

import type { RunStatus } from '../../../../domain/model/run.ts'
import type { RunPosition, SortDir } from '../../../../domain/view/run-order.ts'
import type { RunQuery, RunView } from '../../../../ports/store-reads.ts'
import type { Query, Row } from '../../description/values.ts'
import { Gathering } from './gathering.ts'
import { runView } from './run-queries.ts'
import { AFTER_ALL, Slices } from './slices.ts'
import {
  findsFew,
  isNarrowed,
  isOneValue,
  type Listed,
  listedOf,
  matchesNone,
  nextValueQuery,
  ofStatus,
  walkByKey,
  walksById,
} from './walks.ts'

type Read = (queries: Query[]) => Promise<Row[][]>

/** A search for the runs of a page, read by read. */
export interface PageSearch {
  readonly runs: readonly RunView[]
  /** The position up to which all runs were looked at, once a read has stopped on the way. */
  readonly lookedTo: RunPosition | undefined
  /** Makes one small read, or a few. Returns true when the page is complete. */
  isDone(read: Read): Promise<boolean>
}

export function searchOf(namespace: string, query: RunQuery): PageSearch {
  const listed = listedOf(namespace, query)
  if (matchesNone(listed)) return NONE
  const { sort = 'started', dir, limit, after } = query
  const isDeep = query.q !== undefined && query.deep === true
  const byId = (of: Listed, from: RunPosition | undefined) => new Slices({ walks: walksById(of), after: from, isDeep })
  if (sort === 'started' || isOneValue(sort, listed)) return new Walked(byId(listed, after), limit)
  const valueByValue = (values: ValuesOptions['values'], ofValue: (value: string) => Listed) =>
    new ValueByValue({
      values,
      searchFor: (value, missing) => {
        const from = after?.key === value ? { id: after.id } : undefined
        return new Walked(byId(ofValue(value), from), missing)
      },
      first: after?.key as string | undefined,
      limit,
      afterAll: dir === 'asc' ? AFTER_ALL : '',
    })
  if (sort === 'status' && !findsFew(listed)) {
    const statuses = inOrder(listed.possible, query)
    return valueByValue(
      async last => statuses.find(status => last === undefined || isBehind(status, last, dir)),
      status => ofStatus(status as RunStatus, listed),
    )
  }
  const byKey = new Walked(new Slices({ walks: [walkByKey(listed, sort)], after, isDeep }), limit)
  if (!isNarrowed(listed)) return byKey
  const others: PageSearch[] = [
    new Gathering(byId(listed, undefined), { sort, dir, after, limit, isFew: findsFew(listed) }),
  ]
  if (sort === 'workflow' || sort === 'app') {
    const values = async (last: string | undefined, read: Read) =>
      (await read([nextValueQuery(listed, sort, last)]))[0]?.[0]?.[0] as string | undefined
    others.push(valueByValue(values, value => ({ ...listed, filter: { ...listed.filter, [sort]: value } })))
  }
  return new InTurns(byKey, others)
}

const READS_AHEAD = 1

const NONE: PageSearch = { runs: [], lookedTo: undefined, isDone: async () => true }

const inOrder = (statuses: readonly RunStatus[], { dir }: RunQuery) =>
  dir === 'asc' ? [...statuses].sort() : [...statuses].sort().reverse()

function isBehind(status: RunStatus, last: string, dir: SortDir | undefined): boolean {
  return dir === 'asc' ? status > last : status < last
}

/** Finds the runs along one walk. */
class Walked implements PageSearch {
  readonly runs: RunView[] = []
  readonly #slices: Slices
  readonly #limit: number

  constructor(slices: Slices, limit: number) {
    this.#slices = slices
    this.#limit = limit
  }

  get lookedTo(): RunPosition | undefined {
    return this.#slices.lookedTo
  }

  async isDone(read: Read): Promise<boolean> {
    const sizes = this.#slices.sizesQuery()
    if (sizes) this.#slices.fit((await read([sizes]))[0] as Row[])
    const missing = this.#limit - this.runs.length
    const { runs, isEnd } = this.#slices.found(await read(this.#slices.queries(missing)), missing)
    this.runs.push(...runs.map(runView))
    return isEnd || runs.length === missing
  }
}

interface ValuesOptions {
  /** The value that comes after this one in the order, or the first. */
  values: (last: string | undefined, read: Read) => Promise<string | undefined>
  searchFor: (value: string, limit: number) => PageSearch
  /** The value to begin with, if it is known. */
  first: string | undefined
  limit: number
  /** Comes after every id in the direction of the list. */
  afterAll: string
}

/**
 * Finds the runs for one value of the key after the other, each in the order of ids: this way every index by id also serves other
 * orders.
 */
class ValueByValue implements PageSearch {
  readonly #options: ValuesOptions
  readonly #found: RunView[] = []
  #value: string | undefined
  #done: string | undefined
  #search: PageSearch | undefined

  constructor(options: ValuesOptions) {
    this.#options = options
    this.#value = options.first
  }

  get runs(): readonly RunView[] {
    return [...this.#found, ...(this.#search?.runs ?? [])]
  }

  get lookedTo(): RunPosition | undefined {
    const id = this.#search?.lookedTo?.id
    if (this.#value !== undefined && id !== undefined) return { key: this.#value, id }
    return this.#done === undefined ? undefined : { key: this.#done, id: this.#options.afterAll }
  }

  async isDone(read: Read): Promise<boolean> {
    const { values, searchFor, limit } = this.#options
    this.#value ??= await values(this.#done, read)
    if (this.#value === undefined) return true
    this.#search ??= searchFor(this.#value, limit - this.#found.length)
    if (!(await this.#search.isDone(read))) return false
    this.#found.push(...this.#search.runs)
    this.#search = undefined
    this.#done = this.#value
    this.#value = undefined
    return this.#found.length >= limit
  }
}

/**
 * Takes turns among searches for the same page, since none is quick for every filter. The walk along the order finds a page soon
 * if many runs match, gathering if few match, and value by value if the first values have no matching runs.
 */
class InTurns implements PageSearch {
  readonly #searches: PageSearch[]
  /** The search whose turn is next; the first is the one along the order. */
  #next = 0
  /** Reads along the order before the other searches begin: many pages are complete after them. */
  #ahead = READS_AHEAD
  #complete: PageSearch | undefined

  constructor(alongOrder: PageSearch, others: readonly PageSearch[]) {
    this.#searches = [alongOrder, ...others]
  }

  get runs(): readonly RunView[] {
    return (this.#complete ?? this.#first).runs
  }

  get lookedTo(): RunPosition | undefined {
    return this.#first.lookedTo
  }

  async isDone(read: Read): Promise<boolean> {
    const search = this.#searches[this.#next] as PageSearch
    if (await search.isDone(read)) {
      this.#complete = search
      return true
    }
    if (this.#ahead > 0) {
      this.#ahead--
      return false
    }
    if (search instanceof Gathering && search.isTooMany) this.#searches.splice(this.#next, 1)
    else this.#next++
    this.#next %= this.#searches.length
    return false
  }

  get #first(): PageSearch {
    return this.#searches[0] as PageSearch
  }
}
