// Which runs a filter matches, as SQL. Used by the list of runs, their counts and bulk replays.

import type { RunFilter, RunStatus } from '../../../../domain/model/run.ts'
import { earliestId } from '../../../../domain/text/ids.ts'
import type { Value } from '../../description/values.ts'
import { OF_HANDLER, ofKind } from '../../tables/runs.ts'
import { folded } from './text-search.ts'

/**
 * Keeps SQLite from using an index for it: its planner prefers an index over a whole namespace to one that finds the few wanted
 * runs.
 */
export const SAME_NAMESPACE = "namespace || '' = ?"

/** Terms about the table `runs`, all of which must hold, and their parameters in order. */
export interface Condition {
  terms: string[]
  params: Value[]
}

/** One term of a filter, and the columns it reads. */
export interface Term {
  sql: string
  params: Value[]
  columns: readonly string[]
}

/** The runs of the namespace that the filter matches. */
export function runFilter(namespace: string, filter: RunFilter): Condition {
  return allOf([inNamespace(namespace), ...filterTerms(filter).values()])
}

export function inNamespace(namespace: string): Term {
  return { sql: 'namespace = ?', params: [namespace], columns: ['namespace'] }
}

/** The same condition, for queries in which another index finds few runs. */
export function isOfNamespace(namespace: string): Term {
  return { sql: SAME_NAMESPACE, params: [namespace], columns: ['namespace'] }
}

export function allOf(terms: readonly Term[]): Condition {
  return { terms: terms.map(({ sql }) => sql), params: terms.flatMap(({ params }) => params) }
}

export type FilterName = Exclude<keyof RunFilter, 'deep'>

const MADE_BY_BULK = 'SELECT new_run_id FROM bulk_results WHERE bulk_id = ? AND new_run_id IS NOT NULL'
const HAS_FORK = 'EXISTS (SELECT 1 FROM runs AS fork WHERE fork.replay_of = runs.id)'

/** The term of every filter: the type demands one for each. `deep` has none, since it only extends `q`. */
const TERMS: {
  readonly [Name in FilterName]: (value: Required<RunFilter>[Name], filter: RunFilter) => Term
} = {
  app: app => equals('app', app),
  workflow: workflow => equals('workflow', workflow),
  workflows: names => oneOf('workflow', names),
  eventId: eventId => equals('event_id', eventId),
  replayOf: replayOf => equals('replay_of', replayOf),
  status: ofStatuses,
  parentRunId: parentRunId => equals('parent_run_id', parentRunId),
  // A literal: a root run has none.
  root: root => ({ sql: root ? 'parent_run_id IS NULL' : 'TRUE', params: [], columns: ['parent_run_id'] }),
  waitingFor: kind => equals('waiting_kind', kind),
  error: fingerprint => equals('error_key', fingerprint),
  runner: runner => equals('runner', runner),
  key: key => equals('start_key', key),
  attribute: havingAll,
  ids: ids => oneOf('id', ids),
  // A literal: the planner must see that a partial index is meant.
  runType: runType => {
    const sql = runType === 'cron' ? `trigger_kind = 'cron'` : `trigger_kind = 'event'`
    return { sql, params: [], columns: ['trigger_kind'] }
  },
  // A literal, likewise.
  kind: kind => ({ sql: kind === 'run' ? OF_HANDLER : ofKind(kind), params: [], columns: ['kind'] }),
  // A run's id begins with its time.
  since: since => ({ sql: 'id >= ?', params: [earliestId('run', since)], columns: ['id'] }),
  until: until => ({ sql: 'id < ?', params: [earliestId('run', until)], columns: ['id'] }),
  q: (q, { deep }) => contains(folded(q), deep === true),
  bulkId: bulkId => ({ sql: `id IN (${MADE_BY_BULK})`, params: [bulkId], columns: ['id'] }),
  endedSince: at => ({ sql: 'finished_at >= ?', params: [at], columns: ['finished_at'] }),
  endedUntil: at => ({ sql: 'finished_at < ?', params: [at], columns: ['finished_at'] }),
  isForked: () => ({ sql: HAS_FORK, params: [], columns: ['id'] }),
}

/** The terms of the filters that are present. */
export function filterTerms(filter: RunFilter): Map<FilterName, Term> {
  const terms = new Map<FilterName, Term>()
  for (const name of Object.keys(TERMS) as FilterName[]) {
    const value = filter[name]
    if (value !== undefined) terms.set(name, TERMS[name](value as never, filter))
  }
  return terms
}

export function equals(column: string, value: string): Term {
  return { sql: `${column} = ?`, params: [value], columns: [column] }
}

/** The statuses that a filter by status matches. */
export function matchedStatuses(statuses: readonly RunStatus[]): RunStatus[] {
  return [...new Set(statuses.flatMap(status => (status === 'running' ? [status, 'waiting' as const] : [status])))]
}

function ofStatuses(statuses: readonly RunStatus[]): Term {
  return inStatuses(matchedStatuses(statuses))
}

/** Matches exactly these statuses. */
export function inStatuses(statuses: readonly RunStatus[]): Term {
  return oneOf('status', statuses)
}

/** Whether the run has all of the attributes: one lookup for each, by the run alone. */
export function havingAll(attributes: readonly string[]): Term {
  const sql = 'EXISTS (SELECT 1 FROM run_attributes AS a WHERE a.run_id = runs.id AND a.attribute = ?)'
  return { sql: attributes.map(() => sql).join(' AND '), params: [...attributes], columns: ['id'] }
}

function oneOf(column: string, values: readonly string[]): Term {
  if (values.length === 0) return { sql: 'FALSE', params: [], columns: [] }
  const [only] = values
  if (values.length === 1 && only !== undefined) return equals(column, only)
  return { sql: `${column} IN (${values.map(() => '?').join(', ')})`, params: [...values], columns: [column] }
}

const RUN_PREFIX = 'run_'
const NAMED = ['id', 'workflow', 'app']
/** Columns with the event, the source and the parent that started the run. */
const STARTED_BY = ['event_name', 'event_id', 'replay_of', 'parent_run_id']
/** Columns with ids of runs. */
const RUN_IDS = ['id', 'replay_of', 'parent_run_id']
const CONTENT = ['input', 'result', 'error', 'attributes']
/** A long input is stored outside its row. */
const LONG_INPUT = '(SELECT body FROM payloads WHERE payloads.id = runs.id)'

function contains(needle: string, deep: boolean): Term {
  const named = deep ? [...NAMED, ...STARTED_BY] : NAMED
  const texts = [{ text: needle, columns: named }]
  // The stored form of an id that a caller gave to a run ends with what follows its prefix (domain/text/ids).
  if (needle.startsWith(RUN_PREFIX))
    texts.push({ text: `.${needle.slice(RUN_PREFIX.length)}`, columns: RUN_IDS.filter(id => named.includes(id)) })
  const terms = texts.map(({ columns }) => `text_has(?, ${columns.join(', ')})`)
  const params = texts.map(({ text }) => text)
  if (!deep) return { sql: `(${terms.join(' OR ')})`, params, columns: named }
  const content = `json_has(?, ${CONTENT.join(', ')}, ${LONG_INPUT})`
  return { sql: `(${[...terms, content].join(' OR ')})`, params: [...params, needle], columns: [...named, ...CONTENT] }
}
