// `match` of waits, `cancelOn` and triggers (`docs/events.md#match`): equality of values at paths. A path is never an expression.
// The engine checks a match with these functions, and the SDK checks it before it sends one.

/** A value that a match compares: no list and no object. */
export type MatchScalar = string | number | boolean | null

/** The values that an event must have, by path. */
export type MatchValues = Readonly<Record<string, MatchScalar>>

/** Paths whose values must be those of the event that started the run, or the values themselves. */
export type EventMatch = string | readonly string[] | MatchValues

/** Maximum number of paths of one match. */
export const MATCH_PATHS_MAX = 10
/** Maximum length of a path, in characters. */
export const MATCH_PATH_CHARS_MAX = 256
/** Maximum number of members in a path, `data` included. */
export const MATCH_DEPTH_MAX = 16
/** Maximum length of a text in a match, in characters. */
export const MATCH_TEXT_CHARS_MAX = 1024

const PATH = /^data(\.[A-Za-z0-9_$-]+)*$/
const PATH_FORM = 'must be "data" and names behind it, such as "data.orderId" (letters, digits, _, $ and -)'
const FORM = 'must be a path such as "data.orderId", a list of paths, or an object of paths and values'
const VALUES_FORM = 'must be an object of paths and values, such as {"data.plan": "pro"}'

/** The problem of a match; undefined if there is none. `onlyValues`: there is no other event to compare with. */
export function matchFault(match: unknown, { onlyValues = false } = {}): string | undefined {
  const isValues = typeof match === 'object' && match !== null && !Array.isArray(match)
  if (onlyValues && !isValues) return VALUES_FORM
  if (typeof match === 'string') return pathFault(match)
  if (Array.isArray(match)) return pathsFault(match)
  if (!isValues) return FORM
  const entries = Object.entries(match as Record<string, unknown>)
  const fault = pathsFault(entries.map(([path]) => path))
  if (fault !== undefined) return fault
  for (const [path, value] of entries) {
    const wrong = valueFault(value)
    if (wrong !== undefined) return `${wrong}, at ${JSON.stringify(path)}`
  }
  return undefined
}

/** A match for people: `data.orderId, data.line`, or `data.plan = "pro"`. */
export function matchText(match: EventMatch): string {
  if (typeof match === 'string') return match
  if (Array.isArray(match)) return match.join(', ')
  return Object.entries(match)
    .map(([path, value]) => `${path} = ${JSON.stringify(value)}`)
    .join(', ')
}

function pathsFault(paths: readonly unknown[]): string | undefined {
  if (paths.length === 0) return 'must have at least one path'
  if (paths.length > MATCH_PATHS_MAX) return `must have at most ${MATCH_PATHS_MAX} paths`
  return paths.map(pathFault).find(fault => fault !== undefined)
}

function pathFault(path: unknown): string | undefined {
  if (typeof path !== 'string') return FORM
  if (path.length > MATCH_PATH_CHARS_MAX) return `must have paths of at most ${MATCH_PATH_CHARS_MAX} characters`
  if (!PATH.test(path)) return `${PATH_FORM}, not ${JSON.stringify(path)}`
  if (path.split('.').length > MATCH_DEPTH_MAX) return `must have paths of at most ${MATCH_DEPTH_MAX} members`
  return undefined
}

function valueFault(value: unknown): string | undefined {
  if (typeof value === 'string')
    return value.length > MATCH_TEXT_CHARS_MAX
      ? `must have texts of at most ${MATCH_TEXT_CHARS_MAX} characters`
      : undefined
  if (typeof value === 'number') {
    if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return undefined
    return 'must have numbers that are exact: whole ones up to 2^53 - 1'
  }
  return typeof value === 'boolean' || value === null
    ? undefined
    : 'must have values that are texts, numbers, booleans or null'
}
