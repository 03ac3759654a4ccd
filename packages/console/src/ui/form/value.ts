// Values that a form edits, as nodes that keep every digit of numbers: the first value of a schema, changes of members and items,
// and the number of fields of a value. Pure.

import type { Schema } from '@perdure/protocol/json-schema'
import { sourceOf } from '../../data/json/parse.ts'
import { type JsonNode, memberOf, parseJson } from '../json/parse.ts'
import { printJson } from '../json/print.ts'
import { type Field, fieldOf, type Member } from './field.ts'

/** A value with more fields is edited as JSON. */
export const FIELDS_MAX = 200
/** A longer text within the value is edited as JSON. */
const TEXT_CHARS_MAX = 20_000
/** A longer value is edited as JSON. */
const FORM_CHARS_MAX = 64 * 1024

/** Controls that a field would lose or change: all except tab and line feed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const LOST = /[\u0000-\u0008\u000b-\u001f\u007f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

export const NULL: JsonNode = { kind: 'literal', source: 'null' }
export const isNull = (node: JsonNode | undefined): boolean => node?.kind === 'literal' && node.source === 'null'

/** Whether both are the same JSON, with members in the same order. */
export const isSame = (a: JsonNode, b: JsonNode): boolean => printJson(a, false) === printJson(b, false)

/** Whether the field can show the value, and change it without loss elsewhere. */
export function canShow(field: Field, node: JsonNode | undefined): boolean {
  if (node === undefined) return true
  if (isNull(node) && (field.isNullable || field.kind === 'number')) return true
  if (field.kind === 'text')
    return node.kind === 'string' && node.value.length <= TEXT_CHARS_MAX && !LOST.test(node.value)
  // A typed text that is not a number stays a text.
  if (field.kind === 'number') return node.kind === 'number' || (node.kind === 'string' && !LOST.test(node.value))
  if (field.kind === 'choice') return node.kind !== 'object' && node.kind !== 'array'
  if (field.kind === 'list') return node.kind === 'array'
  if (field.kind === 'json') return true
  return node.kind === 'object' && new Set(node.members.map(({ key }) => key)).size === node.members.length
}

/**
 * Returns the object with this member, or without it if the value is undefined. A new member is inserted in the schema's order.
 */
export function withMember(
  node: JsonNode | undefined,
  name: string,
  change: { value: JsonNode | undefined; order: readonly Member[] },
): JsonNode {
  const { value, order } = change
  const members = node?.kind === 'object' ? node.members : []
  const at = members.findIndex(({ key }) => key === name)
  if (value === undefined) return { kind: 'object', members: members.filter((_, i) => i !== at) }
  if (at >= 0)
    return { kind: 'object', members: members.map((member, i) => (i === at ? { key: name, value } : member)) }
  const later = new Set(order.slice(order.findIndex(member => member.name === name) + 1).map(member => member.name))
  const next = members.findIndex(({ key }) => later.has(key))
  const place = next < 0 ? members.length : next
  return { kind: 'object', members: [...members.slice(0, place), { key: name, value }, ...members.slice(place)] }
}

/** Returns the members that the schema does not name, as an object; undefined if there are none. */
export function othersOf(node: JsonNode | undefined, named: readonly Member[]): JsonNode | undefined {
  if (node?.kind !== 'object') return undefined
  const names = new Set(named.map(({ name }) => name))
  const members = node.members.filter(({ key }) => !names.has(key))
  return members.length === 0 ? undefined : { kind: 'object', members }
}

/** Returns the object with these members replacing those that the schema does not name. */
export function withOthers(
  node: JsonNode | undefined,
  named: readonly Member[],
  others: JsonNode | undefined,
): JsonNode {
  const names = new Set(named.map(({ name }) => name))
  const kept = node?.kind === 'object' ? node.members.filter(({ key }) => names.has(key)) : []
  return { kind: 'object', members: [...kept, ...(others?.kind === 'object' ? others.members : [])] }
}

/** Returns the list with one item moved to another place. */
export function moved<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const rest = items.filter((_, i) => i !== from)
  return [...rest.slice(0, to), ...items.slice(from, from + 1), ...rest.slice(to)]
}

/** Returns how many fields the value has under the schema, counted up to `most`. */
export function countFields(
  place: { schema: Schema; root: Schema; depth: number },
  node: JsonNode | undefined,
  most = FIELDS_MAX + 1,
): number {
  const { schema, root, depth } = place
  const field = fieldOf(schema, root, depth)
  let count = 1
  const add = (inner: Schema, value: JsonNode | undefined) => {
    if (count < most) count += countFields({ schema: inner, root, depth: depth + 1 }, value, most - count)
  }
  if (field.kind === 'object' && node?.kind === 'object')
    for (const member of field.members) add(member.schema, memberOf(node, member.name))
  if (field.kind === 'list' && node?.kind === 'array') for (const item of node.items) add(field.items, item)
  return count
}

/** Returns the initial value of a form: defaults, constants, and the required objects; without the latter if there are many. */
export function firstValue(schema: Schema, root: Schema, depth = 0): JsonNode {
  const given = initialOf({ schema, root, depth, left: { nodes: FIELDS_MAX } })
  if (given && countFields({ schema, root, depth }, given) <= FIELDS_MAX) return given
  const { kind } = fieldOf(schema, root, depth)
  if (kind === 'object') return { kind: 'object', members: [] }
  if (kind === 'list') return { kind: 'array', items: [] }
  return kind === 'text' ? { kind: 'string', value: '' } : NULL
}

interface Place {
  schema: Schema
  root: Schema
  depth: number
  /** Number of fields that may still be filled in. */
  left: { nodes: number }
}

function initialOf({ schema, root, depth, left }: Place): JsonNode | undefined {
  left.nodes--
  if (left.nodes < 0) return undefined
  const own = typeof schema === 'object' ? schema : {}
  if (own.default !== undefined) return parseJson(sourceOf(own.default))
  const field = fieldOf(schema, root, depth)
  if (field.kind === 'choice' && own.const !== undefined) return field.options[0]
  if (field.kind !== 'object') return undefined
  const members = field.members.flatMap(({ name, schema: inner, isRequired }) => {
    const value = initialOf({ schema: inner, root, depth: depth + 1, left })
    // An optional object is added by hand, with its defaults.
    const isLeftOut = value?.kind === 'object' && !isRequired && !hasDefault(inner)
    return value === undefined || isLeftOut ? [] : [{ key: name, value }]
  })
  return { kind: 'object', members }
}

const hasDefault = (schema: Schema) => typeof schema === 'object' && schema.default !== undefined

/** Returns why the text cannot be edited by fields; undefined if it can. */
export function whyNoForm(schema: Schema, text: string): string | undefined {
  if (text.length > FORM_CHARS_MAX) return 'the text is too long for a form'
  const field = fieldOf(schema, schema, 0)
  if (field.kind === 'json') return 'the schema allows several shapes, arbitrary members or too many fields'
  try {
    const node = nodeIn(text)
    if (!canShow(field, node)) return 'the value does not have the type that the schema requires'
    if (countFields({ schema, root: schema, depth: 0 }, node) > FIELDS_MAX)
      return `the form would have more than ${FIELDS_MAX} fields`
  } catch {
    return 'the text is not JSON'
  }
  return undefined
}

/** Returns the value of a text; an empty text has none. Throws a SyntaxError for a text that is not JSON. */
export const nodeIn = (text: string): JsonNode | undefined => (text.trim() === '' ? undefined : parseJson(text))
