// Checks bodies against the schemas of the protocol and says what is wrong in words: `invalid_request` naming
// the field and its bound. Used by every route that takes a body, and for the names in queries.

import type { Static, TSchema } from 'typebox'
import { Compile, Errors } from 'typebox/schema'
import { invalid } from '../domain/errors.ts'

/** A function that answers its argument as the schema's type, or throws what is wrong with it. */
export function validator<const Schema extends TSchema>(schema: Schema): (value: unknown) => Static<Schema> {
  const compiled = Compile(schema)
  return value => {
    if (compiled.Check(value)) return value as Static<Schema>
    const fault = faultOf(schema, value, '') ?? { field: '', problem: 'is invalid' }
    throw invalid(fault.field === '' ? 'body' : fault.field, fault.problem)
  }
}

// Blank is told apart from forbidden characters, which would be invisible in a listing and, as a NUL or a lone
// surrogate, cannot be stored as text by every database.
const FORBIDDEN = /[\p{Cc}\p{Cs}]/u

/** Throws unless `value` is fit to be a name: not blank, no control characters, well-formed Unicode. */
export function checkName(field: string, value: string | undefined): void {
  if (value === undefined) return
  checkCharacters(field, value)
  if (value.trim() === '') throw invalid(field, 'must not be blank')
}

/** Throws if `value` has control characters or lone surrogates. */
export function checkCharacters(field: string, value: string | undefined): void {
  if (value === undefined || !FORBIDDEN.test(value)) return
  throw invalid(field, 'must not have control characters or lone surrogates')
}

/** The parts of a schema that are walked here; leaves are left to typebox. */
interface Node {
  properties?: Record<string, Node>
  required?: readonly string[]
  items?: Node
  minItems?: number
  maxItems?: number
}

interface Fault {
  field: string
  problem: string
}

/**
 * The first fault. Walks objects and arrays itself and stops there: typebox's own list of errors visits every
 * element, 1.5 s for a hostile 4 MiB body.
 */
function faultOf(schema: Node, value: unknown, field: string): Fault | undefined {
  if (schema.properties && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return faultOfMembers(schema, value as Record<string, unknown>, field)
  }
  if (schema.items && Array.isArray(value)) {
    const { minItems: min = 0, maxItems: max = Number.POSITIVE_INFINITY } = schema
    if (value.length < min) return { field, problem: `must not have fewer than ${min} items` }
    if (value.length > max) return { field, problem: `must not have more than ${max} items` }
    for (const [i, item] of value.entries()) {
      const fault = faultOf(schema.items, item, `${field}[${i}]`)
      if (fault) return fault
    }
    return undefined
  }
  const [valid, errors] = Errors(schema as TSchema, value)
  if (valid) return undefined
  // Of a union every branch tells what it wanted, then the union itself says nothing more.
  const wants = errors.filter(error => error.keyword !== 'anyOf').map(error => error.message)
  return { field, problem: [...new Set(wants)].join(' or ').replaceAll(' or must be ', ' or ') }
}

function faultOfMembers(schema: Node, value: Record<string, unknown>, field: string): Fault | undefined {
  const path = (name: string): string => (field === '' ? name : `${field}.${name}`)
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) return { field: path(name), problem: 'is required' }
  }
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (!Object.hasOwn(value, name)) continue
    const fault = faultOf(member, value[name], path(name))
    if (fault) return fault
  }
  return undefined
}
