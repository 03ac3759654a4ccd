// Finds the parts of a value that JSON changes or leaves out: the handler would see the value itself in the pass that makes
// it, and something else when it is replayed. Called when a result is encoded.

/** Larger results are checked in part: the check must cost little beside the encoding. */
const VALUES_MAX = 1000
const FINDINGS_MAX = 3
const NAME_CHARS_MAX = 64

/**
 * Returns a text such as `a Map at "items", stored as {}`; undefined if the value is stored as it is. A value with a
 * `toJSON` of its own is.
 */
export function lossOf(value: unknown): string | undefined {
  // A callback without a result is no mistake.
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

/** Calls `visit` with the value and the values in it, as far as JSON would store them, until it returns false. */
function walk(value: unknown, visit: (one: unknown, path: string, isElement: boolean) => boolean): void {
  const open: [one: unknown, path: string, isElement: boolean][] = [[value, '', true]]
  for (let count = 0; open.length > 0 && count < VALUES_MAX; count++) {
    const [one, path, isElement] = open.pop() as (typeof open)[number]
    if (!visit(one, path, isElement)) return
    if (typeof one !== 'object' || one === null || typeof (one as { toJSON?: unknown }).toJSON === 'function') continue
    const keys = Object.keys(one).slice(0, VALUES_MAX)
    for (const key of keys.reverse()) {
      open.push([(one as Record<string, unknown>)[key], path === '' ? key : `${path}.${key}`, Array.isArray(one)])
    }
  }
}

/** Returns a description of the value, and of how it is stored; undefined if it is stored as it is. */
function lossAt(value: unknown, isElement: boolean): [what: string, stored: string] | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : [String(value), 'stored as null']
    case 'undefined':
    case 'function':
    case 'symbol':
      return [
        typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`,
        isElement ? 'stored as null' : 'left out',
      ]
    case 'object':
      return value === null ? undefined : lossOfObject(value)
    default:
      return undefined
  }
}

function lossOfObject(value: object): [what: string, stored: string] | undefined {
  if (Array.isArray(value) || typeof (value as { toJSON?: unknown }).toJSON === 'function') return undefined
  if (value instanceof Map) return ['a Map', 'stored as {} (Object.fromEntries(map) can be stored)']
  if (value instanceof Set) return ['a Set', 'stored as {} ([...set] can be stored)']
  const prototype: object | null = Object.getPrototypeOf(value)
  // The prototype of plain objects, of this realm or another, has none itself.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined
  const name = String(prototype.constructor?.name || 'a class').slice(0, NAME_CHARS_MAX)
  return [`an instance of ${name}`, 'stored as a plain object of its own fields']
}
