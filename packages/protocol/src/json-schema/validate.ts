// Validates a value against a JSON Schema (draft 2020-12) that somebody else has written: with bounded work, and without code
// generated from the schema. Pure. Used by the engine for direct starts, and by the command line.

import { cutText } from '../cut-text.ts'
import { isObject, type JsonSchemaObject, kindOf, type Schema } from './schema.ts'

/** Matches a text with a pattern of a schema. */
export type PatternTest = (pattern: string, text: string) => boolean

/** Work that one validation may take: 1 for each schema that meets a value, and more for patterns and comparisons. */
const WORK_MAX = 120_000
/** Most levels of schemas inside schemas; a reference to itself would make them endless. */
const DEPTH_MAX = 200
/** Most faults that are named. */
const FAULTS_MAX = 10
const SHOWN_CHARS_MAX = 200
/** Characters of a text that cost 1. */
const CHARS_PER_COST = 50
/** A quotient this near to a whole number counts as one. */
const MULTIPLE_TOLERANCE = 1e-9

/** The work for this value exceeds the bound. */
export class SchemaTooComplex extends Error {
  constructor() {
    super('takes too long to validate: the value is too large, or its schema too complex')
  }
}

/** The place of a value: the name of the whole, or a member or an item of another place. */
type Place = string | { of: Place; key: string | number }

/** Ends a validation once enough faults are known. */
class Enough extends Error {}

/** A fault of a value: the names and indexes that lead to the place, and the sentence about it. */
export interface ValueFault {
  path: (string | number)[]
  /** Begins with the place: `input.items[0].count must be an integer`. */
  sentence: string
}

/** The name of the whole value in the sentences, and how patterns are matched. */
export interface ValidationOptions {
  name: string
  matches: PatternTest
}

/**
 * The faults of a value, each a sentence that begins with the path, such as `input.items[0].count must be an integer`; at most 10.
 * Empty: the value is valid. `format` and `default` do not count.
 *
 * @throws SchemaTooComplex
 */
export const schemaFaults = (root: Schema, value: unknown, options: ValidationOptions): string[] =>
  valueFaults(root, value, options).map(({ sentence }) => sentence)

/**
 * The same faults with their places, for a form that shows each at its field.
 *
 * @throws SchemaTooComplex
 */
export function valueFaults(root: Schema, value: unknown, { name, matches }: ValidationOptions): ValueFault[] {
  const validation = new Validation(root, matches)
  try {
    validation.check(root, value, name)
  } catch (error) {
    if (!(error instanceof Enough)) throw error
  }
  return validation.faults.map(({ at, problem }) => {
    const path = keysOf(at)
    return { path, sentence: `${pathText(name, path)} ${problem}` }
  })
}

/** A fault whose text is written only if the fault counts. */
interface Fault {
  at: Place
  problem: string
}

class Validation {
  faults: Fault[] = []
  readonly #root: Schema
  readonly #matches: PatternTest
  #work = 0
  #depth = 0
  /** How many forms are being tried: their faults do not end the validation. */
  #tries = 0

  constructor(root: Schema, matches: PatternTest) {
    this.#root = root
    this.#matches = matches
  }

  check(schema: Schema, value: unknown, at: Place): void {
    this.#spend(1)
    if (schema === true) return
    if (schema === false) {
      this.#add(at, 'is not allowed')
      return
    }
    if (this.#depth >= DEPTH_MAX) throw new SchemaTooComplex()
    this.#depth++
    if (schema.$ref !== undefined) this.check(referred(this.#root, schema.$ref) ?? true, value, at)
    this.#checkType(schema, value, at)
    if (typeof value === 'string') this.#checkText(schema, value, at)
    else if (typeof value === 'number') this.#checkNumber(schema, value, at)
    else if (Array.isArray(value)) this.#checkList(schema, value, at)
    else if (isObject(value)) this.#checkObject(schema, value, at)
    this.#checkForms(schema, value, at)
    this.#depth--
  }

  #spend(work: number): void {
    this.#work += work
    if (this.#work > WORK_MAX) throw new SchemaTooComplex()
  }

  #add(at: Place, problem: string): void {
    if (this.faults.length < FAULTS_MAX) this.faults.push({ at, problem })
    if (this.#tries === 0 && this.faults.length === FAULTS_MAX) throw new Enough()
  }

  /** The faults of one of several forms, which are not yet faults of the value. */
  #try(schema: Schema, value: unknown, at: Place): Fault[] {
    const before = this.faults
    const depth = this.#depth
    this.faults = []
    this.#tries++
    this.check(schema, value, at)
    const found = this.faults
    this.faults = before
    this.#depth = depth
    this.#tries--
    return found
  }

  #isValid(schema: Schema, value: unknown): boolean {
    this.#spend(1)
    return this.#try(schema, value, '').length === 0
  }

  #checkType(schema: JsonSchemaObject, value: unknown, at: Place): void {
    const { type, enum: values, const: constant } = schema
    if (type !== undefined && !isOfType(type, value))
      this.#add(at, `must be ${[type].flat().map(withArticle).join(' or ')}, not ${withArticle(kindOf(value))}`)
    if (values !== undefined && !values.some(one => this.#isSame(one, value)))
      this.#add(at, `must be one of ${shown(values)}`)
    if (constant !== undefined && !this.#isSame(constant, value)) this.#add(at, `must be ${shown(constant)}`)
  }

  #isSame(a: unknown, b: unknown): boolean {
    this.#spend(1)
    if (a === b) return true
    if (Array.isArray(a) || Array.isArray(b)) {
      if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
      return a.every((item, i) => this.#isSame(item, b[i]))
    }
    if (!isObject(a) || !isObject(b)) return false
    const names = Object.keys(a)
    if (names.length !== Object.keys(b).length) return false
    return names.every(name => Object.hasOwn(b, name) && this.#isSame(a[name], b[name]))
  }

  #checkText({ minLength, maxLength, pattern }: JsonSchemaObject, value: string, at: Place): void {
    if (minLength !== undefined || maxLength !== undefined) {
      this.#spend(value.length / CHARS_PER_COST)
      const length = [...value].length
      if (minLength !== undefined && length < minLength) this.#add(at, `must have at least ${minLength} characters`)
      if (maxLength !== undefined && length > maxLength) this.#add(at, `must have at most ${maxLength} characters`)
    }
    if (pattern !== undefined && !this.#test(pattern, value)) this.#add(at, `must match ${shown(pattern)}`)
  }

  #test(pattern: string, text: string): boolean {
    this.#spend(((text.length + 1) * (pattern.length + 1)) / CHARS_PER_COST)
    return this.#matches(pattern, text)
  }

  #checkNumber(schema: JsonSchemaObject, value: number, at: Place): void {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
    if (minimum !== undefined && value < minimum) this.#add(at, `must be at least ${minimum}, not ${value}`)
    if (maximum !== undefined && value > maximum) this.#add(at, `must be at most ${maximum}, not ${value}`)
    if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
      this.#add(at, `must be over ${exclusiveMinimum}, not ${value}`)
    if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
      this.#add(at, `must be under ${exclusiveMaximum}, not ${value}`)
    if (multipleOf !== undefined && !isMultiple(value, multipleOf))
      this.#add(at, `must be a multiple of ${multipleOf}, not ${value}`)
  }

  #checkList(schema: JsonSchemaObject, value: readonly unknown[], at: Place): void {
    const { minItems, maxItems, prefixItems = [], items, contains, minContains = 1, maxContains, uniqueItems } = schema
    if (minItems !== undefined && value.length < minItems) this.#add(at, `must have at least ${minItems} items`)
    if (maxItems !== undefined && value.length > maxItems) this.#add(at, `must have at most ${maxItems} items`)
    for (const [i, item] of value.entries()) {
      const own = prefixItems[i] ?? items
      if (own === undefined) break
      this.check(own, item, { of: at, key: i })
    }
    if (contains !== undefined) {
      const found = value.filter(item => this.#isValid(contains, item)).length
      if (found < minContains) this.#add(at, `must contain at least ${minContains} matching items, not ${found}`)
      if (maxContains !== undefined && found > maxContains)
        this.#add(at, `must contain at most ${maxContains} matching items, not ${found}`)
    }
    if (uniqueItems && new Set(value.map(item => this.#canonical(item))).size < value.length)
      this.#add(at, 'must not have the same item twice')
  }

  /** A text that is the same for equal JSON, whatever the order of members. */
  #canonical(value: unknown): string {
    this.#spend(2)
    if (Array.isArray(value)) return `[${value.map(item => this.#canonical(item)).join()}]`
    if (!isObject(value)) return JSON.stringify(value)
    const names = Object.keys(value).sort()
    return `{${names.map(name => `${JSON.stringify(name)}:${this.#canonical(value[name])}`).join()}}`
  }

  #checkObject(schema: JsonSchemaObject, value: Readonly<Record<string, unknown>>, at: Place): void {
    const { required = [], properties, minProperties, maxProperties, propertyNames } = schema
    const names = Object.keys(value)
    this.#spend(names.length)
    for (const key of required) if (!Object.hasOwn(value, key)) this.#add({ of: at, key }, 'is required')
    if (minProperties !== undefined && names.length < minProperties)
      this.#add(at, `must have at least ${minProperties} members`)
    if (maxProperties !== undefined && names.length > maxProperties)
      this.#add(at, `must have at most ${maxProperties} members`)
    for (const key of names) {
      const own = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined
      if (own !== undefined) this.check(own, value[key], { of: at, key })
      if (propertyNames !== undefined && !this.#isValid(propertyNames, key))
        this.#add({ of: at, key }, 'does not have an allowed name')
      this.#checkOther(schema, { value: value[key], key, at, isNamed: own !== undefined })
    }
    this.#checkDependent(schema, value, at)
  }

  /** Checks a member by its pattern, or one that is covered by neither a name nor a pattern. */
  #checkOther(
    { patternProperties, additionalProperties }: JsonSchemaObject,
    member: { value: unknown; key: string; at: Place; isNamed: boolean },
  ): void {
    const { value, key, at } = member
    let isCovered = member.isNamed
    for (const [pattern, schema] of Object.entries(patternProperties ?? {})) {
      if (!this.#test(pattern, key)) continue
      isCovered = true
      this.check(schema, value, { of: at, key })
    }
    if (!isCovered && additionalProperties !== undefined) this.check(additionalProperties, value, { of: at, key })
  }

  #checkDependent(schema: JsonSchemaObject, value: Readonly<Record<string, unknown>>, at: Place): void {
    for (const [name, needed] of Object.entries(schema.dependentRequired ?? {})) {
      if (!Object.hasOwn(value, name)) continue
      for (const key of needed) if (!Object.hasOwn(value, key)) this.#add({ of: at, key }, `is required with ${name}`)
    }
    for (const [name, dependent] of Object.entries(schema.dependentSchemas ?? {}))
      if (Object.hasOwn(value, name)) this.check(dependent, value, at)
  }

  #checkForms(schema: JsonSchemaObject, value: unknown, at: Place): void {
    const { allOf = [], anyOf, oneOf, not, if: condition } = schema
    for (const each of allOf) this.check(each, value, at)
    if (anyOf) this.#checkAny(anyOf, value, at)
    if (oneOf) {
      const found = this.#checkAny(oneOf, value, at)
      if (found > 1) this.#add(at, `must match exactly one of ${oneOf.length} forms, and matches ${found}`)
    }
    if (not !== undefined && this.#isValid(not, value)) this.#add(at, 'must not have this form')
    if (condition === undefined) return
    const branch = this.#isValid(condition, value) ? schema.then : schema.else
    if (branch !== undefined) this.check(branch, value, at)
  }

  /**
   * Counts the matching forms. If none matches, reports the faults of the only form for values of this type, else one fault about
   * all.
   */
  #checkAny(forms: readonly Schema[], value: unknown, at: Place): number {
    this.#spend(forms.length)
    const tried = forms.map(form => ({ form, faults: this.#try(form, value, at) }))
    const matching = tried.filter(({ faults }) => faults.length === 0).length
    if (matching > 0) return matching
    const ofType = tried.filter(({ form }) => typeof form === 'object' && isOfType(form.type ?? kindOf(value), value))
    if (ofType.length !== 1) this.#add(at, `must match one of ${forms.length} forms`)
    else for (const { at: place, problem } of ofType[0]?.faults ?? []) this.#add(place, problem)
    return 0
  }
}

function isOfType(types: string | readonly string[], value: unknown): boolean {
  if (typeof types !== 'string') return types.some(type => isOfType(type, value))
  return kindOf(value) === types || (types === 'integer' && Number.isInteger(value))
}

function isMultiple(value: number, of: number): boolean {
  const quotient = value / of
  return Number.isFinite(quotient) && Math.abs(quotient - Math.round(quotient)) < MULTIPLE_TOLERANCE
}

function withArticle(kind: string): string {
  if (kind === 'null') return kind
  return /^[aeio]/.test(kind) ? `an ${kind}` : `a ${kind}`
}

const shown = (value: unknown): string =>
  cutText(typeof value === 'string' ? value : JSON.stringify(value), SHOWN_CHARS_MAX, '…')

/** The names and indexes that lead to the place. */
function keysOf(at: Place): (string | number)[] {
  const keys: (string | number)[] = []
  let place = at
  while (typeof place !== 'string') {
    keys.unshift(place.key)
    place = place.of
  }
  return keys
}

/** A path below the whole of this name. A member whose name is not an identifier is in brackets. */
function pathText(name: string, keys: readonly (string | number)[]): string {
  const parts = keys.map(key => {
    const isPlain = typeof key === 'string' && /^[A-Za-z_$][\w$]*$/.test(key)
    return isPlain ? `.${key}` : `[${typeof key === 'number' ? key : shown(JSON.stringify(key))}]`
  })
  return cutText(name + parts.join(''), SHOWN_CHARS_MAX, '…')
}

/**
 * Returns the schema that a reference inside the same schema names: `#` or a JSON pointer. Throws a URIError for a malformed one.
 */
export function referred(root: Schema, $ref: string): Schema | undefined {
  if ($ref === '#') return root
  if (!$ref.startsWith('#/')) return undefined
  let found: unknown = root
  for (const part of $ref.slice(2).split('/')) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Record<string, unknown>)[name]
  }
  return typeof found === 'boolean' || isObject(found) ? (found as Schema) : undefined
}
