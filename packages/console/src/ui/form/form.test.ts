// Which field a schema gets, the first value of a form, and changes of its value.

import type { Schema } from '@perdure/protocol/json-schema'
import { expect, test } from 'vitest'
import { parseJson } from '../json/parse.ts'
import { printJson } from '../json/print.ts'
import { faultsOf } from './faults.ts'
import { fieldOf } from './field.ts'
import { canShow, countFields, firstValue, moved, whyNoForm, withMember } from './value.ts'

const kindOf = (schema: Schema, depth = 1) => {
  const { kind, isNullable } = fieldOf(schema, schema, depth)
  return isNullable ? `${kind} or null` : kind
}
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, {}]))

test.each([
  [{ type: 'string' }, 'text'],
  [{ type: ['integer', 'null'] }, 'number or null'],
  [{ type: 'boolean' }, 'choice'],
  [{ anyOf: [{ type: 'null' }, { type: 'string' }] }, 'text or null'],
  [{ oneOf: [{ const: 'a' }, { const: 2 }] }, 'choice'],
  [{ allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { type: 'number' } } }, 'number'],
  [{ enum: Array.from({ length: 300 }, (_, i) => i) }, 'json'],
  [{ properties: { a: {} } }, 'object'],
  [{ type: 'object' }, 'json'],
  [{ type: 'object', properties: many(101) }, 'json'],
  [{ type: 'array', items: { type: 'string' } }, 'list'],
  [{ type: 'array', prefixItems: [{}], items: {} }, 'json'],
  [{ type: ['string', 'number'] }, 'json'],
  [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'json'],
  [{ $ref: '#' }, 'json'],
  [{ $ref: '#/%E0%A4%A' }, 'json'],
  [true, 'json'],
] as [Schema, string][])('the field of %j: %s', (schema, kind) => {
  expect(kindOf(schema)).toBe(kind)
})

test('deep values are JSON', () => {
  const schema: Schema = { type: 'object', properties: { a: {} } }
  expect([4, 5].map(depth => kindOf(schema, depth))).toEqual(['object', 'json'])
})

test('the bounds of a value are in its hints', () => {
  const schema: Schema = { type: 'integer', minimum: 1, maximum: 9, multipleOf: 2 }
  expect(fieldOf(schema, schema, 0).hints).toEqual(['a whole number', 'at least 1', 'at most 9', 'a multiple of 2'])
})

test('a form begins with defaults, constants and the objects that are required', () => {
  const inner: Schema = { type: 'object', properties: { x: { default: 1 } } }
  const schema: Schema = {
    type: 'object',
    required: ['needed'],
    properties: {
      kind: { const: 'order' },
      n: { type: 'number' },
      needed: inner,
      other: inner,
      list: { default: [1] },
    },
  }
  expect(printJson(firstValue(schema, schema), false)).toBe('{"kind":"order","needed":{"x":1},"list":[1]}')
})

test('a schema of many objects that are required begins with none of them', () => {
  const o = { type: 'object', properties: many(20) }
  const properties = Object.fromEntries(Object.keys(many(20)).map(name => [name, o]))
  const schema: Schema = { type: 'object', required: Object.keys(properties), properties }
  const first = firstValue(schema, schema)
  expect(printJson(first, false)).toBe('{}')
  const filled = parseJson(JSON.stringify(Object.fromEntries(Object.keys(properties).map(name => [name, {}]))))
  expect(countFields({ schema, root: schema, depth: 0 }, filled)).toBeGreaterThan(200)
  expect(whyNoForm(schema, printJson(filled))).toBe('the form would have more than 200 fields')
})

test.each([
  ['text', 'a\u0000b'],
  ['text', 'a\rb'],
  ['text', '\ud800'],
  ['object', '{"a":1,"a":2}'],
  ['object', 'null'],
])('a %s that its field would change is JSON: %j', (kind, value) => {
  const schema: Schema = kind === 'text' ? { type: 'string' } : { type: 'object', properties: { a: {} } }
  const node = kind === 'text' ? ({ kind: 'string', value } as const) : parseJson(value)
  expect(canShow(fieldOf(schema, schema, 0), node)).toBe(false)
})

test('a new member stands where the schema has it, beside members that it does not name', () => {
  const order = ['a', 'b', 'c'].map(name => ({ name, schema: true, isRequired: false }))
  const node = parseJson('{"x":1.0,"a":1,"c":3}')
  const added = withMember(node, 'b', { value: parseJson('2'), order })
  expect(printJson(added, false)).toBe('{"x":1.0,"a":1,"b":2,"c":3}')
  expect(printJson(withMember(added, 'a', { value: undefined, order }), false)).toBe('{"x":1.0,"b":2,"c":3}')
})

test('an item moves up and down', () => {
  expect([moved(['a', 'b', 'c'], 2, 1), moved(['a', 'b', 'c'], 0, 1)]).toEqual([
    ['a', 'c', 'b'],
    ['b', 'a', 'c'],
  ])
})

test('a pattern that only RE2 reads, and one for a text that is too long, are treated as the engine does', () => {
  const job = (pattern: string, text: string) =>
    faultsOf({ schema: JSON.stringify({ pattern }), name: 'input', text: JSON.stringify(text) }).length
  expect([job('(?i)^a$', 'b'), job('^a$', 'b'), job('a', 'a'.repeat(16_385)), job('a', 'a')]).toEqual([0, 1, 1, 0])
})
