// Decides how a form shows the value of a schema: which control, with which hints. Values that fit no control are edited as JSON.
// Pure; anybody may have written a schema, so the depth and the number of fields are limited, and references are followed only
// when they are shown.

import { type JsonSchemaObject, referred, type Schema } from '@perdure/protocol/json-schema'
import { sourceOf } from '../../data/json/parse.ts'
import { type JsonNode, parseJson } from '../json/parse.ts'

/** Deeper values are edited as JSON. */
const DEPTH_MAX = 5
/** An object with more members is edited as JSON. */
const MEMBERS_MAX = 100
/** A longer list of choices is edited as JSON. */
const OPTIONS_MAX = 200
/** Maximum number of references and wrappers followed from one schema. */
const HOPS_MAX = 20
/** A text that may be longer gets several lines. */
const LINE_CHARS_MAX = 200

/** A member that the schema of an object names. */
export interface Member {
  name: string
  schema: Schema
  isRequired: boolean
}

type Control =
  | { kind: 'text'; format: string | undefined; isLong: boolean }
  | { kind: 'number' }
  | { kind: 'choice'; options: readonly JsonNode[] }
  | { kind: 'object'; members: readonly Member[]; hasOthers: boolean }
  | { kind: 'list'; items: Schema }
  /** The value is edited as JSON. */
  | { kind: 'json' }

/** How a value is shown. */
export type Field = Control & {
  title: string | undefined
  description: string | undefined
  /** The limits of the value as text. */
  hints: readonly string[]
  isNullable: boolean
}

/** Returns the field of a schema within `root`. */
export function fieldOf(schema: Schema, root: Schema, depth: number): Field {
  const { schema: own, isNullable } = resolved(schema, root)
  const { title, description } = own
  return { ...controlOf(own, depth), title, description, hints: hintsOf(own), isNullable }
}

function controlOf(schema: JsonSchemaObject, depth: number): Control {
  const options = optionsOf(schema)
  if (options) return options.length > OPTIONS_MAX ? { kind: 'json' } : { kind: 'choice', options: options.map(nodeOf) }
  const { type, properties, items, prefixItems, format, maxLength, default: initial } = schema
  const [only, ...others] = [type ?? (properties ? 'object' : [])].flat().filter(one => one !== 'null')
  if (others.length > 0) return { kind: 'json' }
  if (only === 'boolean') return { kind: 'choice', options: [true, false].map(nodeOf) }
  if (only === 'number' || only === 'integer') return { kind: 'number' }
  if (only === 'string') {
    const isLong = maxLength === undefined ? isLongText(initial) : maxLength > LINE_CHARS_MAX && format === undefined
    return { kind: 'text', format, isLong }
  }
  if (depth >= DEPTH_MAX) return { kind: 'json' }
  if (only === 'array' && items !== undefined && items !== false && !prefixItems) return { kind: 'list', items }
  return only === 'object' ? objectOf(schema) : { kind: 'json' }
}

function objectOf({ properties = {}, required = [], ...rest }: JsonSchemaObject): Control {
  const names = Object.keys(properties)
  if (names.length === 0 || names.length > MEMBERS_MAX) return { kind: 'json' }
  const members = names.map(name => ({ name, schema: properties[name] as Schema, isRequired: required.includes(name) }))
  const hasOthers = typeof rest.additionalProperties === 'object' || rest.patternProperties !== undefined
  return { kind: 'object', members, hasOthers }
}

const isLongText = (initial: unknown) =>
  typeof initial === 'string' && (initial.length > LINE_CHARS_MAX || initial.includes('\n'))

const nodeOf = (value: unknown): JsonNode => parseJson(sourceOf(value))

/** Returns the only values that the schema accepts, if it lists them. */
function optionsOf({ enum: values, const: constant, anyOf, oneOf }: JsonSchemaObject): readonly unknown[] | undefined {
  if (constant !== undefined) return [constant]
  if (values) return values
  const forms = anyOf ?? oneOf
  const constants = forms?.map(form => (typeof form === 'object' ? form.const : undefined))
  return constants?.every(one => one !== undefined) ? constants : undefined
}

interface Resolved {
  schema: JsonSchemaObject
  isNullable: boolean
}

/** Returns the schema behind references, wrappers of one schema, and "this or null". */
function resolved(given: Schema, root: Schema): Resolved {
  let schema = typeof given === 'object' ? given : {}
  let isNullable = false
  for (let hops = 0; hops < HOPS_MAX; hops++) {
    const inner = innerOf(schema, root)
    if (inner === undefined) return { schema, isNullable: isNullable || takesNull(schema) }
    isNullable ||= inner.isNullable
    schema = inner.schema
  }
  return { schema: {}, isNullable }
}

/** Returns the schema inside the outermost wrapper, merged with the keywords next to it. */
function innerOf({ $ref, allOf, anyOf, oneOf, ...beside }: JsonSchemaObject, root: Schema): Resolved | undefined {
  const within = (inner: Schema | undefined, others: JsonSchemaObject, isNullable = false) =>
    typeof inner === 'object' ? { schema: { ...inner, ...others }, isNullable } : { schema: others, isNullable }
  if ($ref !== undefined) return within(targetOf(root, $ref), withForms(beside, { allOf, anyOf, oneOf }))
  if (allOf?.length === 1) return within(allOf[0], withForms(beside, { anyOf, oneOf }))
  const forms = anyOf ?? oneOf
  const other = forms?.filter(form => !isNull(form))
  return forms?.length === 2 && other?.length === 1 ? within(other[0], withForms(beside, { allOf }), true) : undefined
}

function withForms(schema: JsonSchemaObject, forms: { [Name in 'allOf' | 'anyOf' | 'oneOf']?: Schema[] | undefined }) {
  const given = Object.entries(forms).filter(([, list]) => list !== undefined)
  return { ...schema, ...Object.fromEntries(given) } as JsonSchemaObject
}

const isNull = (form: Schema) => typeof form === 'object' && (form.type === 'null' || form.const === null)
const takesNull = ({ type }: JsonSchemaObject) => Array.isArray(type) && type.includes('null')

function targetOf(root: Schema, $ref: string): Schema | undefined {
  try {
    return referred(root, $ref)
  } catch {
    return undefined
  }
}

const FORMAT_HINTS: Readonly<Record<string, string>> = {
  date: 'a date, such as 2026-01-31',
  'date-time': 'a time, such as 2026-01-31T12:00:00Z',
  time: 'a time of day, such as 12:00:00Z',
  email: 'an email address',
  uri: 'an address, such as https://example.com/',
  uuid: 'a UUID',
}

/** Returns the limits of a value as text. The engine's sentences about faults are separate. */
function hintsOf(schema: JsonSchemaObject): string[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, format = '', pattern, type } = schema
  const hints = [
    [type].flat().includes('integer') ? 'a whole number' : undefined,
    Object.hasOwn(FORMAT_HINTS, format) ? FORMAT_HINTS[format] : undefined,
    minimum === undefined ? undefined : `at least ${minimum}`,
    exclusiveMinimum === undefined ? undefined : `over ${exclusiveMinimum}`,
    maximum === undefined ? undefined : `at most ${maximum}`,
    exclusiveMaximum === undefined ? undefined : `under ${exclusiveMaximum}`,
    multipleOf === undefined ? undefined : `a multiple of ${multipleOf}`,
    rangeText(schema.minLength, schema.maxLength, 'character'),
    rangeText(schema.minItems, schema.maxItems, 'item'),
    pattern === undefined || pattern.length > LINE_CHARS_MAX ? undefined : `matches ${pattern}`,
  ]
  return hints.filter(hint => hint !== undefined)
}

function rangeText(least: number | undefined, most: number | undefined, what: string): string | undefined {
  const counted = (count: number) => `${count} ${what}${count === 1 ? '' : 's'}`
  if (most !== undefined) return least ? `${least} to ${counted(most)}` : `at most ${counted(most)}`
  return least ? `at least ${counted(least)}` : undefined
}
