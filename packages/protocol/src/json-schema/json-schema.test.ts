// Values against schemas, in the kinds of cases that the official test suite has; schemas with faults; and schemas that try to do
// harm.

import { expect, test } from 'vitest'
import { type Schema, SchemaTooComplex, schemaFault, schemaFaults, valueFaults } from './index.ts'

const matches = (pattern: string, text: string) => new RegExp(pattern, 'u').test(text)
const faultsOf = (schema: Schema, value: unknown) => schemaFaults(schema, value, { name: 'input', matches })

const ORDER: Schema = {
  type: 'object',
  required: ['id', 'items'],
  properties: {
    id: { type: 'string', pattern: '^o-[0-9]+$', maxLength: 8 },
    items: { type: 'array', minItems: 1, items: { $ref: '#/$defs/item' } },
    'ship to': { anyOf: [{ type: 'null' }, { type: 'object', required: ['city'] }] },
  },
  additionalProperties: false,
  $defs: { item: { type: 'object', required: ['count'], properties: { count: { type: 'integer', minimum: 1 } } } },
}

test.each([
  [ORDER, { id: 'o-1', items: [{ count: 2 }], 'ship to': null }, []],
  [ORDER, 7, ['input must be an object, not a number']],
  [ORDER, { id: 'x', items: [] }, ['input.id must match ^o-[0-9]+$', 'input.items must have at least 1 items']],
  [
    ORDER,
    { id: 'o-1', items: [{ count: 0.5 }] },
    ['input.items[0].count must be an integer, not a number', 'input.items[0].count must be at least 1, not 0.5'],
  ],
  [
    ORDER,
    { items: [{}], extra: 1 },
    ['input.id is required', 'input.items[0].count is required', 'input.extra is not allowed'],
  ],
  [ORDER, { id: 'o-1', items: [{ count: 1 }], 'ship to': {} }, ['input["ship to"].city is required']],
  [{ type: ['string', 'null'] }, 1, ['input must be a string or null, not a number']],
  [{ enum: ['a', { b: 1 }] }, { b: 1 }, []],
  [{ enum: ['a', 'b'] }, 'c', ['input must be one of ["a","b"]']],
  [{ const: { a: [1] } }, { a: [2] }, ['input must be {"a":[1]}']],
  [{ maxLength: 2 }, '\u{1f600}\u{1f600}', []],
  [{ multipleOf: 0.1 }, 0.3, []],
  [{ multipleOf: 0.1 }, 0.35, ['input must be a multiple of 0.1, not 0.35']],
  [{ exclusiveMinimum: 0 }, 0, ['input must be over 0, not 0']],
  [
    { uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    ['input must not have the same item twice'],
  ],
  [{ prefixItems: [{ type: 'string' }], items: false }, ['a', 1], ['input[1] is not allowed']],
  [{ contains: { const: 1 }, maxContains: 1 }, [1, 1], ['input must contain at most 1 matching items, not 2']],
  [{ propertyNames: { maxLength: 2 } }, { abc: 1 }, ['input.abc does not have an allowed name']],
  [
    { patternProperties: { '^x': { type: 'number' } }, additionalProperties: false },
    { x1: 'a', y: 1 },
    ['input.x1 must be a number, not a string', 'input.y is not allowed'],
  ],
  [{ dependentRequired: { card: ['cvc'] } }, { card: 1 }, ['input.cvc is required with card']],
  [{ oneOf: [{ minimum: 1 }, { maximum: 5 }] }, 3, ['input must match exactly one of 2 forms, and matches 2']],
  [{ not: { type: 'string' } }, 'a', ['input must not have this form']],
  [
    JSON.parse('{"if": {"const": 1}, "then": false, "else": {"type": "string"}}'),
    2,
    ['input must be a string, not a number'],
  ],
  [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, true, ['input must match one of 2 forms']],
  [{ allOf: [{ minimum: 1 }, { maximum: 3 }] }, 5, ['input must be at most 3, not 5']],
  [{ properties: { constructor: { type: 'string' } } }, {}, []],
  [{ properties: { __proto__: { type: 'string' } } }, JSON.parse('{"__proto__": 1}'), []],
  [false, 1, ['input is not allowed']],
] as [Schema, unknown, string[]][])('%j: %j', (schema, value, faults) => {
  expect(faultsOf(schema, value)).toEqual(faults)
})

test('a fault has the names and indexes of its place', () => {
  const value = { id: 'o-1', items: [{ count: 1 }, { count: 0 }], 'ship to': {} }
  expect(valueFaults(ORDER, value, { name: 'data', matches })).toEqual([
    { path: ['items', 1, 'count'], sentence: 'data.items[1].count must be at least 1, not 0' },
    { path: ['ship to', 'city'], sentence: 'data["ship to"].city is required' },
  ])
})

test('at most ten faults are named', () => {
  expect(
    faultsOf(
      { items: { type: 'string' } },
      Array.from({ length: 1000 }, (_, i) => i),
    ),
  ).toHaveLength(10)
})

test.each([
  [
    { $schema: 'http://json-schema.org/draft-07/schema#' },
    '.$schema must be https://json-schema.org/draft/2020-12/schema',
  ],
  [
    { properties: { a: { $ref: 'https://evil.example/schema' } } },
    '.properties.a.$ref must stay inside the schema: # or #/…',
  ],
  [{ $ref: '#/$defs/none' }, '.$ref leads nowhere in the schema'],
  [{ $ref: 5 }, '.$ref must be a string'],
  [{ pattern: 5 }, '.pattern must be a string'],
  [{ enum: [{ required: 5 }], $ref: '#/enum/0' }, '.$ref.required must be a list of texts'],
  [{ $ref: '#/%E0%A4%A' }, '.$ref is not a JSON pointer'],
  [{ items: { $dynamicRef: '#node' } }, '.items.$dynamicRef is not supported: write $ref'],
  [{ type: 'text' }, '.type must be one of string, number, integer, boolean, object, array, null'],
  [{ required: 'id' }, '.required must be a list of texts'],
  [{ properties: [] }, '.properties must be an object of schemas'],
  [{ allOf: [{ items: 7 }] }, '.allOf[0].items must be a schema: an object, true or false'],
  [{ minLength: -1 }, '.minLength must be a whole number'],
  [{ pattern: '(' }, '.pattern is refused'],
  [{ patternProperties: { '(': true } }, '.patternProperties.( is refused'],
  [{ description: 'x'.repeat(33_000) }, ' must have at most 32768 characters as JSON'],
  [[], ' must be an object'],
])('a schema with a fault: %j', (schema, fault) => {
  const found = schemaFault(schema, pattern => (pattern === '(' ? 'is refused' : undefined))
  expect(`${found?.path} ${found?.problem}`).toBe(fault)
})

test('the first fault ends the check of a schema', () => {
  let checked = 0
  const patterns = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`p${i}`, { pattern: `a{${i}}` }]))
  const found = schemaFault({ properties: patterns }, () => (++checked === 3 ? 'is refused' : undefined))
  expect([found?.problem, checked]).toEqual(['is refused', 3])
})

test('definitions may refer to each other in a long chain', () => {
  const $defs = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`d${i}`, { $ref: `#/$defs/d${i + 1}` }]))
  expect(schemaFault({ $defs: { ...$defs, d900: {} }, $ref: '#/$defs/d0' }, () => undefined)).toBeUndefined()
})

test('a schema that nests too deep is refused', () => {
  let schema: object = {}
  for (let i = 0; i < 60; i++) schema = { not: schema }
  expect(schemaFault(schema, () => undefined)?.problem).toBe('must not nest deeper than 50 schemas')
})

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, i]))

test.each([
  ['a reference to itself', { $ref: '#' }, 1],
  ['forms of forms that refer to the whole', { anyOf: [{ $ref: '#' }, { $ref: '#' }] }, 1],
  [
    'alternatives at each level',
    { type: 'string', oneOf: [{ items: { $ref: '#' } }, { items: { $ref: '#' } }] },
    nested(60),
  ],
  ['patterns for each of 100,000 members', { patternProperties: { '^(a|b)+$': false, x: false } }, many(100_000)],
])('%s ends with an error instead of taking long', (_, schema, value) => {
  expect(() => faultsOf(schema as Schema, value)).toThrow(SchemaTooComplex)
})

test('10,000 members are validated', () => {
  expect(faultsOf({ additionalProperties: { type: 'integer' } }, many(10_000))).toEqual([])
})

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = [value]
  return value
}
