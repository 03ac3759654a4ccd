// Checks a JSON Schema itself before it is kept: its size, the types of its keywords, and that it does not refer to anything
// outside itself. Pure. Used by the engine at registration.

import { cutText } from '../cut-text.ts'
import { isObject, type JsonSchemaObject } from './schema.ts'
import { referred } from './validate.ts'

/** Longest schema, in characters of its JSON. */
export const SCHEMA_CHARS_MAX = 32 * 1024
const DIALECT = 'https://json-schema.org/draft/2020-12/schema'
const DEPTH_MAX = 50
const KEY_CHARS_SHOWN = 64
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

type Check = (value: unknown) => string | undefined

const isCount: Check = value =>
  Number.isInteger(value) && (value as number) >= 0 ? undefined : 'must be a whole number'
const isNumber: Check = value => (typeof value === 'number' ? undefined : 'must be a number')
const isText: Check = value => (typeof value === 'string' ? undefined : 'must be a string')
const isList: Check = value => (Array.isArray(value) ? undefined : 'must be a list')
const isTextList: Check = value =>
  Array.isArray(value) && value.every(each => typeof each === 'string') ? undefined : 'must be a list of texts'

/** Keywords with a plain value. */
const PLAIN: Readonly<Record<string, Check>> = {
  type: value =>
    [value].flat().every(one => TYPES.includes(one as string)) ? undefined : `must be one of ${TYPES.join(', ')}`,
  enum: isList,
  required: isTextList,
  uniqueItems: value => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  multipleOf: value => (typeof value === 'number' && value > 0 ? undefined : 'must be a number over 0'),
  dependentRequired: value =>
    isObject(value) && Object.values(value).every(each => isTextList(each) === undefined)
      ? undefined
      : 'must be an object of lists of texts',
  ...Object.fromEntries(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map(name => [name, isNumber])),
  ...Object.fromEntries(
    'minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties'
      .split(' ')
      .map(name => [name, isCount]),
  ),
  ...Object.fromEntries(['$ref', 'pattern', 'title', 'description', 'format'].map(name => [name, isText])),
}

/** Keywords that contain schemas: one, a list of them, or an object of them. */
const ONE = 'items contains additionalProperties propertyNames not if then else'.split(' ')
const LISTS = ['prefixItems', 'allOf', 'anyOf', 'oneOf']
const OBJECTS = ['$defs', 'properties', 'patternProperties', 'dependentSchemas']
/** Keywords whose effect is not supported: a schema with one would accept values that its author refuses. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  $dynamicRef: 'write $ref',
  $dynamicAnchor: 'write $ref with a JSON pointer',
  $anchor: 'write $ref with a JSON pointer',
  $recursiveRef: 'write $ref',
  unevaluatedProperties: 'write additionalProperties',
  unevaluatedItems: 'write items',
  additionalItems: 'write prefixItems and items',
  dependencies: 'write dependentRequired or dependentSchemas',
  definitions: 'write $defs',
}

/** A fault of a schema: its place, as a path from the root, and its description. */
export interface SchemaFault {
  path: string
  problem: string
}

/** Returns the first fault of a schema; undefined if there is none. `patternFault` describes the fault of a pattern. */
export function schemaFault(
  root: unknown,
  patternFault: (pattern: string) => string | undefined,
): SchemaFault | undefined {
  if (!isObject(root)) return { path: '', problem: 'must be an object' }
  if (JSON.stringify(root).length > SCHEMA_CHARS_MAX)
    return { path: '', problem: `must have at most ${SCHEMA_CHARS_MAX} characters as JSON` }
  if (root.$schema !== undefined && root.$schema !== DIALECT) return { path: '.$schema', problem: `must be ${DIALECT}` }
  const place: Place = {
    root,
    path: '',
    depth: 0,
    patternFault,
    seen: new Set(),
    referred: [{ path: '', schema: root }],
  }
  // A reference may lead to a place that is not a keyword of schemas. The list grows while it is read.
  for (const { path, schema } of place.referred) {
    const fault = faultIn(schema, { ...place, path })
    if (fault) return fault
  }
  return undefined
}

interface Place {
  root: Record<string, unknown>
  path: string
  depth: number
  patternFault: (pattern: string) => string | undefined
  /** Schemas that have been checked, or are being checked: references may lead to them again. */
  seen: Set<object>
  /** Schemas still to be checked: the root, and the targets of references. */
  referred: { path: string; schema: unknown }[]
}

function faultIn(schema: unknown, place: Place): SchemaFault | undefined {
  const { path, depth, seen } = place
  if (typeof schema === 'boolean') return undefined
  if (!isObject(schema)) return { path, problem: 'must be a schema: an object, true or false' }
  if (seen.has(schema)) return undefined
  seen.add(schema)
  if (depth > DEPTH_MAX) return { path, problem: `must not nest deeper than ${DEPTH_MAX} schemas` }
  for (const [name, value] of Object.entries(schema)) {
    const at = `${path}.${name}`
    const problem = keywordProblem(name, value, place)
    if (problem !== undefined) return { path: at, problem }
    const fault = insideFault(name, value, { ...place, path: at, depth: depth + 1 })
    if (fault) return fault
  }
  return undefined
}

function keywordProblem(name: string, value: unknown, { patternFault }: Place): string | undefined {
  if (Object.hasOwn(UNSUPPORTED, name)) return `is not supported: ${UNSUPPORTED[name]}`
  const problem = Object.hasOwn(PLAIN, name) ? PLAIN[name]?.(value) : undefined
  return problem ?? (name === 'pattern' ? patternFault(value as string) : undefined)
}

/** The first fault of the schemas in a keyword. */
function insideFault(name: string, value: unknown, place: Place): SchemaFault | undefined {
  const { path } = place
  if (name === '$ref') return refFault(value as string, place)
  if (ONE.includes(name)) return faultIn(value, place)
  if (LISTS.includes(name)) {
    if (!Array.isArray(value)) return { path, problem: 'must be a list of schemas' }
    return firstFault(value.entries(), place, i => `${path}[${i}]`)
  }
  if (!OBJECTS.includes(name)) return undefined
  if (!isObject(value)) return { path, problem: 'must be an object of schemas' }
  const pathOf = (key: string) => `${path}.${cutText(key, KEY_CHARS_SHOWN)}`
  if (name === 'patternProperties') {
    for (const pattern of Object.keys(value)) {
      const problem = place.patternFault(pattern)
      if (problem !== undefined) return { path: pathOf(pattern), problem }
    }
  }
  return firstFault(Object.entries(value), place, pathOf)
}

function firstFault<Key>(
  schemas: Iterable<[Key, unknown]>,
  place: Place,
  pathOf: (key: Key) => string,
): SchemaFault | undefined {
  for (const [key, schema] of schemas) {
    const fault = faultIn(schema, { ...place, path: pathOf(key) })
    if (fault) return fault
  }
  return undefined
}

function refFault($ref: string, { path, root, referred: targets }: Place): SchemaFault | undefined {
  if (!$ref.startsWith('#')) return { path, problem: 'must stay inside the schema: # or #/…' }
  try {
    const target = referred(root as JsonSchemaObject, $ref)
    if (target === undefined) return { path, problem: 'leads nowhere in the schema' }
    targets.push({ path, schema: target })
    return undefined
  } catch (error) {
    if (error instanceof URIError) return { path, problem: 'is not a JSON pointer' }
    throw error
  }
}
