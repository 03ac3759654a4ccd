// Which runs a filter matches, as SQL. Used by the list of runs, their counts and bulk replays.

import { earliestId } from '../../../domain/text/ids.ts'
import type { RunFilter } from '../../../ports/store-reads.ts'
import type { Value } from '../description/values.ts'
import { folded } from './text-search.ts'

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

export function allOf(terms: readonly Term[]): Condition {
  return { terms: terms.map(({ sql }) => sql), params: terms.flatMap(({ params }) => params) }
}

export type FilterName = Exclude<keyof RunFilter, 'deep'>

/** A term for each field of the filter. */
export function filterTerms(filter: RunFilter): Map<FilterName, Term> {
  const { app, workflow, status, runType, eventId, replayOf, since, q, deep } = filter
  const terms = new Map<FilterName, Term>()
  const equal = (name: FilterName, column: string, value: string | undefined) => {
    if (value !== undefined) terms.set(name, equals(column, value))
  }
  equal('app', 'app', app)
  equal('workflow', 'workflow', workflow)
  equal('eventId', 'event_id', eventId)
  equal('replayOf', 'replay_of', replayOf)
  if (status !== undefined) terms.set('status', ofStatus(status))
  // A literal: the planner must see that a partial index is meant.
  if (runType !== undefined) {
    const sql = runType === 'cron' ? `trigger_kind = 'cron'` : `trigger_kind = 'event'`
    terms.set('runType', { sql, params: [], columns: ['trigger_kind'] })
  }
  // A run's id begins with its time.
  if (since !== undefined) {
    terms.set('since', { sql: 'id >= ?', params: [earliestId('run', since)], columns: ['id'] })
  }
  if (q !== undefined) terms.set('q', contains(folded(q), deep === true))
  return terms
}

export function equals(column: string, value: string): Term {
  return { sql: `${column} = ?`, params: [value], columns: [column] }
}

function ofStatus(status: string): Term {
  if (status !== 'running') return equals('status', status)
  return { sql: `status IN ('running', 'waiting')`, params: [], columns: ['status'] }
}

const NAMED = ['id', 'workflow', 'app']
const CONTENT = ['input', 'result', 'error']
/** A long input is stored beside its row. */
const LONG_INPUT = '(SELECT body FROM payloads WHERE payloads.id = runs.id)'

function contains(needle: string, deep: boolean): Term {
  const named = `text_has(?, ${NAMED.join(', ')})`
  if (!deep) return { sql: named, params: [needle], columns: NAMED }
  const sql = `(${named} OR json_has(?, ${CONTENT.join(', ')}, ${LONG_INPUT}))`
  return { sql, params: [needle, needle], columns: [...NAMED, ...CONTENT] }
}
