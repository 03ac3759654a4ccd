// Reads what callers put into URLs: ids in paths and parameters in queries (decisions, "Errors, limits, auth").
// Used by every route; a parameter that is given and unusable is 400, naming it.

import type { FastifyRequest } from 'fastify'
import { EngineError, invalid } from '../domain/errors.ts'
import { checkName } from './validate.ts'

export type Query = Readonly<Record<string, string | undefined>>

/** The query's parameters, each of which may be given once. Unknown ones are ignored. */
export function queryOf(request: FastifyRequest): Query {
  const query = request.query as Record<string, string | string[]>
  for (const name in query) {
    if (typeof query[name] !== 'string') throw invalid(name, 'must be given once')
  }
  return query as Query
}

/** Refuses parameters that would change the answer but are not supported yet: ignoring them would mislead. */
export function refuseUnsupported(query: Query, names: readonly string[]): void {
  const name = names.find(name => query[name] !== undefined)
  if (name !== undefined) throw invalid(name, 'is not supported yet')
}

/** A name to filter by, not longer than any stored one. */
export function nameParam(query: Query, name: string, lengthMax: number): string | undefined {
  const value = query[name]
  // Counted in characters, as the schemas do: one outside the BMP has length 2.
  if (value !== undefined && value.length > lengthMax && [...value].length > lengthMax) {
    throw invalid(name, `must not have more than ${lengthMax} characters`)
  }
  checkName(name, value)
  return value
}

export function enumParam<const Value extends string>(
  query: Query,
  name: string,
  values: readonly Value[],
): Value | undefined {
  const value = query[name]
  if (value === undefined || values.includes(value as Value)) return value as Value | undefined
  throw invalid(name, `must be one of ${values.join(', ')}`)
}

/** An integer, moved into the range when it is outside. */
export function integerParam<Fallback extends number | undefined>(
  query: Query,
  name: string,
  range: { min: number; max: number; fallback: Fallback },
): number | Fallback {
  const value = query[name]
  if (value === undefined) return range.fallback
  return clampedInteger(name, value, range)
}

export function clampedInteger(name: string, value: string, range: { min: number; max: number }): number {
  if (!/^[+-]?\d+$/.test(value)) throw invalid(name, 'must be an integer')
  return Math.min(Math.max(Number(value), range.min), range.max)
}

/** Contract §4.1: `from` is an exclusive lower bound on seq. */
export const SEQ_RANGE = { min: 0, max: Number.MAX_SAFE_INTEGER } as const

const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d(?:\.\d+)?)([Zz]|[+-]\d\d:\d\d)$/

/** An RFC 3339 timestamp as epoch ms. */
export function timestampParam(query: Query, name: string): number | undefined {
  const value = query[name]
  if (value === undefined) return undefined
  // The `+` of an offset that was not escaped arrives as a space.
  const [, date, time, offset] = RFC_3339.exec(value.replace(' ', '+')) ?? []
  const ms = Date.parse(`${date}T${time}${offset?.toUpperCase()}`)
  // Date.parse moves February 30 into March.
  const dayExists = new Date(Date.parse(`${date}T00:00:00Z`) || 0).toISOString().startsWith(`${date}T`)
  if (Number.isNaN(ms) || !dayExists) throw invalid(name, 'must be an RFC 3339 timestamp')
  return ms
}

const ID = /^[\w-]{1,64}$/

/** The `:id` of the path. What cannot be an id is not found; the store need not be asked. */
export function pathId(request: FastifyRequest, noun: string): string {
  const { id } = request.params as { id: string }
  if (!ID.test(id)) throw notFound(noun)
  return id
}

export function notFound(noun: string): EngineError {
  return new EngineError('not_found', `no such ${noun}`)
}
