// Finds the parts of a value that JSON changes or leaves out: the handler would see the value itself in the pass that makes it,
// and another value when it is replayed. Called when a result is encoded.

import { cutText } from '@perdure/protocol'

/**
 * Maximum number of values that are checked. The rest of a larger result is not: the check must be cheap compared to the
 * encoding.
 */
const VALUES_MAX = 1000
const FINDINGS_MAX = 3
const NAME_CHARS_MAX = 64
/** Maximum number of getters of one class that a warning names. */
const GETTERS_MAX = 20

/**
 * Returns a text such as `a Map at "items", stored as {}`; undefined if the value is stored as it is. Values with their own
 * `toJSON` count as stored as they are.
 */
export function lossOf(value: unknown): string | undefined {
  // A callback without a result is not a mistake.
  if (value === undefined || value === null) return undefined
  const found: string[] = []
  walk(value, (one, path, isElement) => {
    const loss = lossAt(one, isElement)
    if (loss !== undefined) found.push(`${loss[0]}${at(path)}, ${loss[1]}`)
    return found.length < FINDINGS_MAX
  })
  return found.length === 0 ? undefined : found.join('; ')
}

/** Returns the place of the first BigInt, as ` at "total"`; undefined if there is none. */
export function bigIntIn(value: unknown): string | undefined {
  let place: string | undefined
  walk(value, (one, path) => {
    if (typeof one === 'bigint') place = at(path)
    return place === undefined
  })
  return place
}

const at = (path: string) => (path === '' ? '' : ` at ${JSON.stringify(path)}`)

/** Calls `visit` with the value and the values in it that JSON would store, until `visit` returns false. */
function walk(value: unknown, visit: (one: unknown, path: string, isElement: boolean) => boolean): void {
  const open: [one: unknown, path: string, isElement: boolean][] = [[value, '', true]]
  for (let count = 0; open.length > 0 && count < VALUES_MAX; count++) {
    const [one, path, isElement] = open.pop() as (typeof open)[number]
    if (!visit(one, path, isElement)) return
    if (typeof one !== 'object' || one === null || isBinary(one)) continue
    if (typeof (one as { toJSON?: unknown }).toJSON === 'function') continue
    const keys = Object.keys(one).slice(0, VALUES_MAX)
    for (const key of keys.reverse()) {
      open.push([(one as Record<string, unknown>)[key], path === '' ? key : `${path}.${key}`, Array.isArray(one)])
    }
  }
}

/**
 * Returns a description of the value and of the way it is stored; undefined if it is stored as it is. An `undefined` is not worth
 * a warning: a member is absent, an element or a result is null, and the types show that.
 */
function lossAt(value: unknown, isElement: boolean): [what: string, stored: string] | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : [String(value), 'stored as null']
    case 'function':
    case 'symbol':
      return [`a ${typeof value}`, isElement ? 'stored as null' : 'left out']
    case 'object':
      return value === null ? undefined : lossOfObject(value)
    default:
      return undefined
  }
}

function lossOfObject(value: object): [what: string, stored: string] | undefined {
  if (isBinary(value))
    return [`a ${nameOf(value)}`, 'stored as its bytes (Buffer.from(bytes).toString("base64") can be stored)']
  if (Array.isArray(value) || typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined
  if (value instanceof Map) return ['a Map', 'stored as {} (Object.fromEntries(map) can be stored)']
  if (value instanceof Set) return ['a Set', 'stored as {} ([...set] can be stored)']
  const prototype: object | null = Object.getPrototypeOf(value)
  // The prototype of plain objects, in this realm or another, has no prototype itself.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined
  const getters = gettersOf(prototype)
  if (getters.length === 0) return [`an instance of ${nameOf(value)}`, 'stored as a plain object of its own fields']
  const more = getters.length > GETTERS_MAX ? ` and ${getters.length - GETTERS_MAX} more` : ''
  const named = getters.slice(0, GETTERS_MAX).join(', ') + more
  return [
    `an instance of ${nameOf(value)}`,
    `stored as a plain object of its own fields, without its getters ${named} (a plain object of what you need can be stored)`,
  ]
}

/** Returns the names of the getters of a class and of the classes it extends, such as the `text` of a result of an AI SDK. */
function gettersOf(prototype: object): string[] {
  const names: string[] = []
  for (let one = prototype; one !== null && one !== Object.prototype; one = Object.getPrototypeOf(one)) {
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(one))) {
      if (get !== undefined && name !== '__proto__') names.push(cutText(name, NAME_CHARS_MAX))
    }
  }
  return names
}

function isBinary(value: object): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer
}

function nameOf(value: object): string {
  return cutText(String(value.constructor?.name || 'class'), NAME_CHARS_MAX)
}
