// Reads what callers put into URLs: ids in paths and parameters in queries (decisions, "Errors, limits, auth").
// Used by every route; a parameter that is given and unusable is 400, naming it.

import type { QueryParam, QueryParams, QueryValues } from '@perdure/protocol/operations'
import type { FastifyRequest } from 'fastify'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import { timestamp } from './timestamp.ts'
import { checkName } from './validate.ts'

/** The values of the parameters an operation takes, each of which may be given once. Unknown parameters are ignored. */
export function readQuery<const Params extends QueryParams>(
  request: FastifyRequest,
  params: Params,
): QueryValues<Params> {
  const query = request.query as Readonly<Record<string, string | string[] | undefined>>
  const values: Record<string, unknown> = {}
  for (const name in params) {
    const value = query[name]
    if (typeof value === 'object') throw invalid(name, 'must be given once')
    values[name] = readParam(name, value, params[name] as QueryParam)
  }
  return values as QueryValues<Params>
}

function readParam(name: string, value: string | undefined, param: QueryParam): unknown {
  if (param.kind === 'flag') return flag(name, value)
  if (value === undefined) return 'default' in param ? param.default : undefined
  switch (param.kind) {
    case 'name':
      checkLength(name, value, param.maxLength)
      checkName(name, value)
      return value
    case 'text':
      checkLength(name, value, param.maxLength)
      return value
    case 'enum':
      if (param.values.includes(value)) return value
      throw invalid(name, `must be one of ${param.values.join(', ')}`)
    case 'integer':
      return clampedInteger(name, value, param)
    case 'timestamp':
      return timestamp(name, value)
  }
}

function flag(name: string, value: string | undefined): boolean {
  if (value === undefined || value === '1' || value === '0') return value === '1'
  throw invalid(name, 'must be 1 or 0')
}

/** Counted in characters, as the schemas do: one outside the BMP has length 2. */
function checkLength(name: string, value: string, max: number): void {
  if (value.length > max && [...value].length > max) {
    throw invalid(name, `must not have more than ${max} characters`)
  }
}

/** An integer, moved into the range when it is outside. */
export function clampedInteger(
  name: string,
  value: string,
  range: { minimum: number; maximum: number },
): number {
  if (!/^[+-]?\d+$/.test(value)) throw invalid(name, 'must be an integer')
  return Math.min(Math.max(Number(value), range.minimum), range.maximum)
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
