// Query plans for a page of runs, called walks: each reads one index, or several of one shape, and finds the same runs in the same
// order (docs/decisions/0005-run-lists.md). Called by the list of runs.

import { RUN_STATUSES, TERMINAL_STATUSES } from '@perdure/protocol'
import { isTerminal, type RunFilter, type RunStatus } from '../../../../domain/model/run.ts'
import type { RunQuery } from '../../../../ports/store-reads.ts'
import type { Query } from '../../description/values.ts'
import {
  equals,
  type FilterName,
  filterTerms,
  havingAll,
  inNamespace,
  inStatuses,
  isOfNamespace,
  matchedStatuses,
  type Term,
} from './run-filter.ts'

export const SORT_COLUMN = {
  workflow: 'workflow',
  status: 'status',
  app: 'app',
  duration: 'duration_ms',
} as const

/** An index as it is used in the order of ids. */
interface IdIndex {
  /** `few`: it finds so few runs that no other index has to be tried. */
  finds: 'few' | 'many'
  /** The columns that it has besides its own: terms on these are checked without reading rows. */
  covers: readonly string[]
}

const FEW: IdIndex = { finds: 'few', covers: [] }
const NAMED = ['namespace', 'id', 'app', 'workflow', 'trigger_kind']

/**
 * The index of each filter in the order of ids, the narrowest first; null: the filter has none. The type demands an entry for
 * each.
 */
const INDEXED: { readonly [Name in FilterName]: IdIndex | null } = {
  ids: FEW,
  bulkId: FEW,
  replayOf: FEW,
  eventId: FEW,
  parentRunId: { finds: 'few', covers: NAMED },
  // Its index is a table of its own.
  attribute: { finds: 'many', covers: ['namespace', 'id', 'app', 'workflow', 'ended'] },
  error: { finds: 'many', covers: NAMED },
  waitingFor: { finds: 'many', covers: [...NAMED, 'status'] },
  key: { finds: 'many', covers: [] },
  runner: { finds: 'many', covers: [] },
  status: { finds: 'many', covers: NAMED },
  workflow: { finds: 'many', covers: NAMED },
  workflows: { finds: 'many', covers: NAMED },
  app: { finds: 'many', covers: NAMED },
  // Most runs have no parent: nearly every run would have to be written to an index of them.
  root: null,
  // Only the runs of schedules have an index, and only on-failure runs.
  runType: null,
  kind: null,
  // Part of every index, since ids begin with their time.
  since: null,
  until: null,
  q: null,
  endedSince: null,
  endedUntil: null,
  isForked: null,
}
const NAMES = Object.keys(INDEXED) as FilterName[]
export const FILTERS_BY_ID = NAMES.filter(name => INDEXED[name] !== null)
/** Indexes for a single value of their filter. */
const PARTIAL: { readonly [Name in FilterName]?: IdIndex } = {
  runType: { finds: 'many', covers: NAMED },
  kind: { finds: 'many', covers: [...NAMED, 'status'] },
}
const TIMES = ['since', 'until'] as const
/** Sorts after every character of a name. */
const LAST = '\u{10ffff}'
/** A search in texts takes far longer than a comparison, so reads with it look at fewer runs. */
const SLOW: FilterName = 'q'

/** The table of attributes as a walk sees it: a run for each. */
export const ATTRIBUTED = `(SELECT namespace, attribute, ended, run_id AS id, app, workflow FROM run_attributes) AS runs`

/** A walk along one index, or along one for each status. */
export interface Walk {
  /** The table of attributes, if the walk goes along it. */
  source: 'runs' | typeof ATTRIBUTED
  /** Lists of terms, each answered by an index in the walk's order; the walk merges them. */
  branches: Term[][]
  /** Terms that each run on the way must be compared with. */
  rest: Term[]
  /** The index has every column that the rest needs, so that runs are passed without reading their rows. */
  isCovered: boolean
  /** The columns of the order. */
  order: string[]
  dir: 'ASC' | 'DESC'
}

/** The filter of a list, with everything derived from it. */
export interface Listed {
  namespace: string
  filter: RunFilter
  dir: 'ASC' | 'DESC'
  /** The statuses that the filter names, exactly: in a filter `running` also means `waiting`. */
  statuses: readonly RunStatus[] | undefined
  /** The statuses that matching runs can have. */
  possible: readonly RunStatus[]
}

export function listedOf(namespace: string, { sort, dir, limit, after, ...filter }: RunQuery): Listed {
  const statuses = filter.status && matchedStatuses(filter.status)
  // Only failed runs have a fingerprint, and only live ones wait.
  const possible = (statuses ?? RUN_STATUSES)
    .filter(status => filter.error === undefined || status === 'failed')
    .filter(status => filter.waitingFor === undefined || !isTerminal(status))
  return { namespace, filter, dir: dir === 'asc' ? 'ASC' : 'DESC', statuses, possible }
}

/** The same, of one status. */
export function ofStatus(status: RunStatus, listed: Listed): Listed {
  return { ...listed, statuses: [status], possible: [status] }
}

/** Whether the filter shows that no run can match: no status is possible, or a pattern stands for no workflow. */
export function matchesNone({ possible, filter }: Listed): boolean {
  return possible.length === 0 || filter.workflows?.length === 0
}

/** A filter that leads a walk: an index answers it. */
interface Lead {
  name: FilterName
  /** The attribute, if the filter is by attributes. */
  attribute?: string
}

/** The walks in the order of ids that find the runs, at least one; the narrowest first, as far as the filters show it. */
export function walksById(listed: Listed): [Walk, ...Walk[]] {
  const leads = leadsOf(listed)
  const [first, ...others] = leads.map(lead => walkById(listed, lead))
  return [first ?? walkById(listed, undefined), ...others]
}

/** The walk in key order, which compares every run that it passes. */
export function walkByKey(listed: Listed, sort: keyof typeof SORT_COLUMN): Walk {
  const terms = termsOf(listed)
  // The index may have the status, but not the expression that leaves only some of them possible.
  if (listed.possible.length < RUN_STATUSES.length) terms.set('status', inStatuses(listed.possible))
  const rest = [...terms]
  const covers = sort === 'duration' ? [...NAMED, 'status'] : NAMED
  return {
    source: 'runs',
    branches: [[inNamespace(listed.namespace)]],
    rest: rest.map(([, term]) => term),
    isCovered: isCovered(rest, covers),
    order: [SORT_COLUMN[sort], 'id'],
    dir: listed.dir,
  }
}

/** Rows with the names of workflows that runs have and that begin so: a look-up for each name, however many runs it has. */
export function workflowNamesQuery(namespace: string, prefix: string, limit: number): Query {
  const next = (after: string) =>
    `(SELECT min(workflow) FROM runs WHERE namespace = ? AND workflow ${after} AND workflow < ?)`
  const behind = prefix + LAST
  return {
    sql: `WITH RECURSIVE names (name) AS (SELECT ${next('>= ?')} UNION ALL
        SELECT ${next('> names.name')} FROM names WHERE name IS NOT NULL)
      SELECT name FROM names WHERE name IS NOT NULL LIMIT ?`,
    params: [namespace, prefix, behind, namespace, behind, limit],
  }
}

/** One row with the next value of the order's column after `last`, or with the first; none at the end. */
export function nextValueQuery({ namespace, dir }: Listed, sort: 'workflow' | 'app', last: string | undefined): Query {
  const behind = last === undefined ? '' : ` AND ${sort} ${dir === 'ASC' ? '>' : '<'} ?`
  return {
    sql: `SELECT ${sort} FROM runs WHERE namespace = ?${behind} ORDER BY ${sort} ${dir} LIMIT 1`,
    params: [namespace, ...(last === undefined ? [] : [last])],
  }
}

/** Whether walks by id read only some of the runs. */
export function isNarrowed(listed: Listed): boolean {
  return listed.filter.since !== undefined || leadsOf(listed).length > 0
}

/** Whether walks by id find few runs. */
export function findsFew(listed: Listed): boolean {
  return NAMES.some(name => INDEXED[name]?.finds === 'few' && listed.filter[name] !== undefined)
}

/**
 * Whether all runs have the same value of the key, such as the runs of one app sorted by app: they are then in the order of ids.
 */
export function isOneValue(sort: keyof typeof SORT_COLUMN, listed: Listed): boolean {
  const { error, waitingFor } = listed.filter
  // A fingerprint belongs to one app and workflow, and to failed runs; a run that waits has no duration yet.
  if (sort === 'duration') return waitingFor !== undefined
  if (error !== undefined) return true
  return sort === 'status' ? listed.possible.length === 1 : listed.filter[sort] !== undefined
}

function leadsOf({ filter, statuses }: Listed): Lead[] {
  const present = FILTERS_BY_ID.filter(name => (name === 'status' ? statuses : filter[name]) !== undefined)
  const few = present.find(name => INDEXED[name]?.finds === 'few')
  if (few) return [{ name: few }]
  // Most runs have succeeded; a workflow or an app has fewer runs. But their indexes lack the status, and the status index has both.
  const isWide = (name: FilterName) => name === 'status' && statuses?.includes('succeeded') === true
  const leads = [...present.filter(name => !isWide(name)), ...present.filter(isWide)].flatMap((name): Lead[] =>
    name === 'attribute' ? (filter.attribute ?? []).map(attribute => ({ name, attribute })) : [{ name }],
  )
  if (filter.kind !== undefined && filter.kind !== 'run') leads.push({ name: 'kind' })
  return filter.runType === 'cron' ? [...leads, { name: 'runType' }] : leads
}

const isFew = (lead: Lead | undefined) => lead !== undefined && INDEXED[lead.name]?.finds === 'few'

function walkById(listed: Listed, lead: Lead | undefined): Walk {
  const { namespace, dir } = listed
  const index = lead && (PARTIAL[lead.name] ?? INDEXED[lead.name])
  const covers = index?.covers ?? ['namespace', 'id']
  const inIndex = restOf(listed, lead, true)
  const rest = isCovered(inIndex, covers) ? inIndex : restOf(listed, lead, false)
  return {
    source: lead?.name === 'attribute' ? ATTRIBUTED : 'runs',
    branches: branchesOf(listed, lead).map(branch => [
      isFew(lead) ? isOfNamespace(namespace) : inNamespace(namespace),
      ...branch,
      ...timesOf(listed),
    ]),
    rest: rest.map(([, term]) => term),
    isCovered: isCovered(rest, covers),
    order: ['id'],
    dir,
  }
}

/** A walk along an index with the status is the merge of one walk for each status. */
function branchesOf(listed: Listed, lead: Lead | undefined): Term[][] {
  if (lead === undefined) return [[]]
  const { possible } = listed
  if (lead.name === 'status') return possible.map(status => [inStatuses([status])])
  if (lead.name === 'workflows') return (listed.filter.workflows ?? []).map(name => [equals('workflow', name)])
  if (lead.attribute === undefined) return [[termsOf(listed).get(lead.name) as Term]]
  const attribute = equals('attribute', lead.attribute)
  if (possible.length === RUN_STATUSES.length) return [[attribute]]
  // A run that an engine without this column has ended is among the live ones.
  const ended = ['live', ...TERMINAL_STATUSES.filter(status => possible.includes(status))]
  return ended.map(status => [attribute, equals('ended', status)])
}

function timesOf(listed: Listed): Term[] {
  const terms = termsOf(listed)
  return TIMES.flatMap(name => terms.get(name) ?? [])
}

/** A walk by an attribute compares only runs that are noted as live: the branches select the others correctly. */
function endedOrIn(statuses: readonly RunStatus[]): Term {
  const { sql, params } = inStatuses(statuses)
  const isIn = `EXISTS (SELECT 1 FROM runs AS now WHERE now.id = runs.id AND now.${sql})`
  return { sql: `(ended <> 'live' OR ${isIn})`, params, columns: ['id', 'ended'] }
}

function isCovered(rest: readonly [FilterName, Term][], covers: readonly string[]): boolean {
  return rest.every(([name, { columns }]) => name !== SLOW && columns.every(column => covers.includes(column)))
}

/** The terms that a walk by id has to compare, since its index does not answer them: in the index, or in the rows of the runs. */
function restOf(listed: Listed, lead: Lead | undefined, isInIndex: boolean): [FilterName, Term][] {
  const terms = termsOf(listed)
  for (const name of TIMES) terms.delete(name)
  if (lead) terms.delete(lead.name)
  const { statuses } = listed
  if (isInIndex && lead?.attribute !== undefined && statuses) terms.set('status', endedOrIn(statuses))
  // Only failed runs have a fingerprint, and failed runs were found possible.
  if (lead?.name === 'error') terms.delete('status')
  const others = (listed.filter.attribute ?? []).filter(attribute => attribute !== lead?.attribute)
  if (lead?.name === 'attribute' && others.length > 0) terms.set('attribute', havingAll(others))
  return [...terms]
}

function termsOf({ filter, statuses }: Listed): Map<FilterName, Term> {
  const terms = filterTerms(filter)
  if (statuses) terms.set('status', inStatuses(statuses))
  return terms
}
