// Random requests for an operation, made from its declared parameters and body. Most fit their schemas, some do not.

import type { Operation, QueryParam } from '@perdure/protocol/operations'

/** A number in [0, 1). */
export type Random = () => number

type Schema = Readonly<Record<string, unknown>>

const WORDS = ['greet', 'plain', 'a', 'ü 😀', '0', '-', '__proto__', 'run_01JD8Z9W5Z8B1D4F7H0K3N6Q9S', '1h', '*']
const ODD: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  1e300,
  '',
  ' ',
  'x'.repeat(600),
  [],
  {},
  [null],
  '\u0000',
  '\ud83d',
]
/** How often a value does not fit its schema. */
const ODD_SHARE = 0.12
const DEPTH_MAX = 4

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T

/** The query of a request, with its question mark. */
export function randomQuery({ query = {} }: Operation, random: Random): string {
  const given = new URLSearchParams()
  for (const [name, param] of Object.entries(query)) {
    if (!param.required && random() < 0.7) continue
    const times = isList(param) && random() < 0.5 ? 2 : 1
    for (let i = 0; i < times; i++)
      given.append(name, random() < ODD_SHARE ? String(pick(random, ODD)) : text(param, random))
  }
  return given.size === 0 ? '' : `?${given}`
}

const isList = ({ kind }: QueryParam) => kind === 'enums' || kind === 'names' || kind === 'attributes'

function text(param: QueryParam, random: Random): string {
  switch (param.kind) {
    case 'enum':
    case 'enums':
      return pick(random, param.values)
    case 'integer':
      return String(pick(random, [param.minimum, param.minimum + 1, Math.min(param.maximum, 50)]))
    case 'flag':
      return pick(random, ['0', '1'])
    case 'timestamp':
      return pick(random, ['2024-01-01T00:00:00Z', '2030-06-01T12:00:00.5+02:00'])
    case 'duration':
      return pick(random, ['0', '1', '5ms'])
    case 'attributes':
      return `${pick(random, ['plan', 'n'])}:${pick(random, WORDS)}`
    case 'pattern':
      return '3f9a1c0d5e7b2846'
    case 'name':
    case 'names':
    case 'text':
      return pick(random, WORDS)
  }
}

/** A value for the schema, in a few places one that does not fit. */
export function randomValue(schema: Schema, random: Random, depth = 0): unknown {
  if (random() < ODD_SHARE / (depth + 1)) return pick(random, ODD)
  const {
    anyOf,
    enum: values,
    type,
    properties,
    required = [],
    items,
    patternProperties,
  } = schema as {
    anyOf?: Schema[]
    enum?: unknown[]
    type?: string
    properties?: Record<string, Schema>
    required?: string[]
    items?: Schema
    patternProperties?: Record<string, Schema>
  }
  if ('const' in schema) return schema.const
  if (values) return pick(random, values)
  if (anyOf) return randomValue(pick(random, anyOf), random, depth)
  if (type === 'object' && properties) {
    const names = Object.keys(properties).filter(
      name => required.includes(name) || (depth < DEPTH_MAX && random() < 0.3),
    )
    return Object.fromEntries(names.map(name => [name, randomValue(properties[name] as Schema, random, depth + 1)]))
  }
  if (type === 'object') {
    const [value] = Object.values(patternProperties ?? {})
    return value ? { [pick(random, ['plan', 'n'])]: randomValue(value, random, depth + 1) } : {}
  }
  if (type === 'array') return items ? [randomValue(items, random, depth + 1)] : []
  if (type === 'integer' || type === 'number') return pick(random, [0, 1, 7])
  if (type === 'boolean') return random() < 0.5
  return pick(random, WORDS)
}
