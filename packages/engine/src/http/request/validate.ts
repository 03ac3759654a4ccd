// Checks bodies against the schemas of the protocol, and names the field and its bound in an `invalid_request`. Used by
// every route that takes a body, and for the names in queries.

import { quoteName } from '@perdure/protocol'
import type { Static, TSchema } from 'typebox'
import { Compile, Errors } from 'typebox/schema'
import { invalid } from '../../domain/model/errors.ts'
import { ENGINE_EVENT_FAULT, hasForbiddenCharacters, isBlank, isEngineEvent } from '../../domain/text/name.ts'
import { TIMESTAMP_WANTED } from './timestamp.ts'

/**
 * Makes a function that returns its argument as the schema's type, or throws. `whole` names the argument itself in errors. The
 * schema is compiled for the first argument, or immediately with `atStart`.
 */
export function validator<const Schema extends TSchema>(
  schema: Schema,
  whole = 'body',
  { atStart = false } = {},
): (value: unknown) => Static<Schema> {
  let compiled: ReturnType<typeof Compile<Schema>> | undefined = atStart ? Compile(schema) : undefined
  return value => {
    compiled ??= Compile(schema)
    if (compiled.Check(value)) return value as Static<Schema>
    const fault = value === undefined ? faultOfNothing(schema) : faultOf(schema, value, '')
    throw invalid(fault?.field || whole, fault?.problem ?? 'is invalid')
  }
}

/** Throws unless `value` can be a name: not blank, no control characters, well-formed Unicode. */
export function checkName(field: string, value: string | undefined): void {
  if (value === undefined) return
  checkCharacters(field, value)
  if (isBlank(value)) throw invalid(field, 'must not be blank')
}

/** Throws unless `value` can be the name of an event that a caller sends. */
export function checkEventName(field: string, value: string | undefined): void {
  checkName(field, value)
  if (value !== undefined && isEngineEvent(value)) throw invalid(field, ENGINE_EVENT_FAULT)
}

/** Throws unless `text` is an http or https URL without credentials: lists show the URL, and requests would not send them. */
export function checkUrl(text: string): void {
  checkName('url', text)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw invalid('url', 'must be an http or https URL')
  }
  if (url.username !== '' || url.password !== '') throw invalid('url', 'must not carry credentials')
}

/** Throws if `value` has control characters or lone surrogates. */
export function checkCharacters(field: string, value: string | undefined): void {
  if (value === undefined || !hasForbiddenCharacters(value)) return
  throw invalid(field, 'must not have control characters or lone surrogates')
}

/** The parts of a schema that `faultOf` walks; typebox checks the leaves. */
interface Node {
  type?: string
  anyOf?: readonly Node[]
  maximum?: number
  enum?: readonly unknown[]
  format?: string
  properties?: Record<string, Node>
  patternProperties?: Record<string, Node>
  maxProperties?: number
  required?: readonly string[]
  items?: Node
  minItems?: number
  maxItems?: number
}

interface Fault {
  field: string
  problem: string
}

/** Returns the fault of a missing body: its first required field. */
function faultOfNothing(schema: Node): Fault {
  return faultOf(schema, {}, '') ?? { field: '', problem: 'is required' }
}

/**
 * Returns the first fault. Walks objects and arrays itself and stops at the fault: typebox's list of errors visits every element,
 * which takes 1.5 s for a hostile 4 MiB body.
 */
function faultOf(schema: Node, value: unknown, field: string): Fault | undefined {
  if (schema.anyOf) return faultOfUnion(schema.anyOf, value, field)
  if (schema.properties && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return faultOfMembers(schema, value as Record<string, unknown>, field)
  }
  if (schema.patternProperties && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return faultOfRecord(schema, value as Record<string, unknown>, field)
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
  return valid ? undefined : { field, problem: problemOf(schema, errors[0]) }
}

/** Records have one schema for all members whose names match a pattern, and accept no others. */
function faultOfRecord(
  { patternProperties = {}, maxProperties = Number.POSITIVE_INFINITY }: Node,
  value: Record<string, unknown>,
  field: string,
): Fault | undefined {
  const names = Object.keys(value)
  if (names.length > maxProperties) return { field, problem: `must not have more than ${maxProperties} members` }
  for (const [pattern, member] of Object.entries(patternProperties)) {
    const allowed = new RegExp(pattern, 'u')
    for (const name of names) {
      if (!allowed.test(name)) return { field, problem: `has a member whose name does not match ${pattern}` }
      const fault = faultOf(member, value[name], `${field}.${name}`)
      if (fault) return fault
    }
  }
  return undefined
}

/** Only a branch of the value's JSON type can name the fault. */
function faultOfUnion(branches: readonly Node[], value: unknown, field: string): Fault | undefined {
  const fitting = branches.filter(({ type }) => type === undefined || isOfType(value, type))
  if (fitting.length === 0) {
    return { field, problem: `must be ${branches.map(({ type }) => type).join(' or ')}` }
  }
  const faults = fitting.map(branch => faultOf(branch, value, field))
  return faults.includes(undefined) ? undefined : faults[0]
}

/** Whether the value has the JSON type. Any number counts as an integer, so that the fault names the missing property. */
function isOfType(value: unknown, type: string): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === (type === 'integer' ? 'number' : type)
}

/** A number without other bounds. */
const BEYOND_EXACT = `must be at most ${Number.MAX_SAFE_INTEGER}, as larger numbers lose digits: send it as a string`

function problemOf(schema: Node, error: { keyword: string; message: string } | undefined): string {
  if (schema.enum) return `must be one of ${schema.enum.join(', ')}`
  if (schema.format === 'date-time' && error?.keyword === 'format') return TIMESTAMP_WANTED
  const isBeyond = error?.keyword === 'maximum' || error?.keyword === 'minimum'
  if (schema.type === 'number' && schema.maximum === Number.MAX_SAFE_INTEGER && isBeyond) return BEYOND_EXACT
  return error?.message ?? 'is invalid'
}

/** Names an unknown member, which was probably meant to be the missing required one. */
function insteadOf({ properties = {} }: Node, value: Record<string, unknown>): string {
  const unknown = Object.keys(value).find(name => !Object.hasOwn(properties, name))
  return unknown === undefined ? '' : `; ${quoteName(unknown)} is not known here`
}

function faultOfMembers(schema: Node, value: Record<string, unknown>, field: string): Fault | undefined {
  const path = (name: string): string => (field === '' ? name : `${field}.${name}`)
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) return { field: path(name), problem: `is required${insteadOf(schema, value)}` }
  }
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (!Object.hasOwn(value, name)) continue
    const fault = faultOf(member, value[name], path(name))
    if (fault) return fault
  }
  return undefined
}
