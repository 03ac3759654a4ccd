// Reads the ids in paths and the parameters in queries (docs/errors.md#how-requests-are-checked). Used by every route. An
// unusable parameter is 400, naming it.

import {
  ATTRIBUTE_KEY_CHARS_MAX,
  ATTRIBUTE_KEY_PATTERN,
  ATTRIBUTE_VALUE_CHARS_MAX,
  ATTRIBUTES_MAX,
  DURATION_FORMS,
  parseTextMs,
  quoteName,
} from '@perdure/protocol'
import { ID_CHARS_MAX, type QueryParam, type QueryParams, type QueryValues } from '@perdure/protocol/operations'
import type { FastifyRequest } from 'fastify'
import { EngineError, invalid } from '../../domain/model/errors.ts'
import { givenIdOf } from '../../domain/text/ids.ts'
import { timestamp } from './timestamp.ts'
import { checkName } from './validate.ts'

/** Reads the values of an operation's parameters. Lists may be given several times; every other parameter once. */
export function readQuery<const Params extends QueryParams>(
  request: FastifyRequest,
  params: Params,
): QueryValues<Params> {
  const query = request.query as Readonly<Record<string, string | string[] | undefined>>
  const values: Record<string, unknown> = {}
  for (const name in params) {
    const value = query[name]
    const param = params[name] as QueryParam
    if (param.kind === 'attributes' || param.kind === 'enums' || param.kind === 'names') {
      if (value !== undefined) values[name] = readList(name, [value].flat(), param)
      continue
    }
    if (typeof value === 'object') throw invalid(name, 'must not be given more than once')
    values[name] = readParam(name, value, param)
  }
  return values as QueryValues<Params>
}

type ListParam = Extract<QueryParam, { kind: 'attributes' | 'enums' | 'names' }>
type SingleParam = Exclude<QueryParam, ListParam>

/** Items are separated by commas or given as further parameters with the name: generated clients send either form. */
function readList(name: string, given: readonly string[], param: ListParam): string[] {
  // The values of attributes may contain commas.
  if (param.kind === 'attributes') return attributes(name, given)
  const items = given.flatMap(value => value.split(','))
  if (param.kind === 'enums') return [...new Set(items.map(item => oneOf(name, item, param.values)))]
  if (items.length > param.maxItems) throw invalid(name, `must not have more than ${param.maxItems} items`)
  return items.map(item => checkedName(name, item, param.maxLength))
}

function readParam(name: string, value: string | undefined, param: SingleParam): unknown {
  if (param.kind === 'flag') return flag(name, value)
  if (value === undefined) return 'default' in param ? param.default : undefined
  switch (param.kind) {
    case 'name':
      return checkedName(name, value, param.maxLength)
    case 'pattern':
      if (!new RegExp(param.pattern, 'u').test(value)) throw invalid(name, `must match pattern "${param.pattern}"`)
      return value
    case 'text':
      checkLength(name, value, param.maxLength)
      return value
    case 'enum':
      return oneOf(name, value, param.values)
    case 'integer':
      return clampedInteger(name, value, param)
    case 'timestamp':
      return timestamp(name, value)
    case 'duration':
      return boundedDuration(name, value, param)
  }
}

const ATTRIBUTE_KEY = new RegExp(ATTRIBUTE_KEY_PATTERN)

/** Attributes as `key:value`, each once. The value begins after the first colon. Throws an error that names the field. */
export function attributes(name: string, given: readonly string[]): string[] {
  if (given.length > ATTRIBUTES_MAX) throw invalid(name, `must not be given more than ${ATTRIBUTES_MAX} times`)
  for (const text of given) {
    const colon = text.indexOf(':')
    if (!ATTRIBUTE_KEY.test(text.slice(0, Math.max(0, colon)))) {
      const key = `1 to ${ATTRIBUTE_KEY_CHARS_MAX} letters, digits, _, . or -`
      throw invalid(name, `must be key:value, with a key of ${key}`)
    }
    checkLength(name, text.slice(colon + 1), ATTRIBUTE_VALUE_CHARS_MAX)
  }
  return [...new Set(given)]
}

function flag(name: string, value: string | undefined): boolean {
  if (value === undefined || value === '1' || value === '0') return value === '1'
  throw invalid(name, 'must be 1 or 0')
}

function checkedName(name: string, value: string, maxLength: number): string {
  checkLength(name, value, maxLength)
  checkName(name, value)
  return value
}

function oneOf(name: string, value: string, values: readonly string[]): string {
  if (values.includes(value)) return value
  throw invalid(name, `must be one of ${values.join(', ')}`)
}

/** Counts characters, as the schemas do; `length` counts a character outside the BMP as 2. */
function checkLength(name: string, value: string, max: number): void {
  if (value.length > max && [...value].length > max) {
    throw invalid(name, `must not have more than ${max} characters`)
  }
}

function boundedDuration(
  name: string,
  value: string,
  { minimumMs = 0, maximumMs, default: initial }: Extract<QueryParam, { kind: 'duration' }>,
): number {
  const ms = parseTextMs(value)
  if (ms === undefined) throw invalid(name, `must be ${DURATION_FORMS}`)
  if (ms < minimumMs && ms !== initial) throw invalid(name, `must be at least ${minimumMs / 1000}s`)
  if (ms > maximumMs) throw invalid(name, `must be at most ${maximumMs / 1000}s`)
  return ms
}

/** An integer, clamped to the range. */
export function clampedInteger(name: string, value: string, range: { minimum: number; maximum: number }): number {
  if (!/^[+-]?\d+$/.test(value)) throw invalid(name, 'must be an integer')
  return Math.min(Math.max(Number(value), range.minimum), range.maximum)
}

const ID = new RegExp(`^[\\w-]{1,${ID_CHARS_MAX}}$`)

/** Reads the `:id` of the path. A text that cannot be an id is not found, without a read of the store. */
export function pathId(request: FastifyRequest, noun: string): string {
  const { id } = request.params as { id: string }
  if (!isId(id) && givenIdOf(id) === undefined) throw notFound(noun)
  return id
}

/** Step ids are chosen by the runner: any text of a bounded length. */
const STEP_ID_CHARS_MAX = 256

/** The `:stepId` of the path. */
export function pathStepId(request: FastifyRequest): string {
  const { stepId } = request.params as { stepId: string }
  if (stepId.length > 2 * STEP_ID_CHARS_MAX) throw stepNotFound(stepId)
  return stepId
}

/** Whether the text can be an id. */
export function isId(text: string): boolean {
  return ID.test(text)
}

export function stepNotFound(stepId: string): EngineError {
  return new EngineError('step_not_found', `the run has no step with the id ${quoteName(stepId)}`)
}

export function notFound(noun: string): EngineError {
  return new EngineError('not_found', `no such ${noun}`)
}
