// Creates the data of an event that a waiting run accepts: the values that the wait's filter compares with the run's own event,
// if the filter is a list of equalities. Pure; the engine's dry run shows whether the data meets the filter.

import type { EventMatch } from '@perdure/protocol'
import { sourceOf } from '../../data/json/parse.ts'

/** The event that started the run. A filter calls it `event`. */
export interface StartEvent {
  id?: string | undefined
  name: string
  data?: unknown
}

type Path = readonly string[]
/** Members by name; a leaf is JSON text. */
type Draft = Map<string, Draft | string>

const PATH = String.raw`(?:\.[A-Za-z_]\w*|\[(?:"[^"\\]*"|'[^'\\]*')\])+`
const ARRIVING = new RegExp(`^async\\.data(${PATH})$`)
const STARTED = new RegExp(`^event\\.data(${PATH})$`)
const LITERAL = /^(?:-?\d+(?:\.\d+)?|true|false|null|"[^"\\]*"|'[^'\\]*')$/

/** The conditions of a wait. */
interface Conditions {
  if?: string | undefined
  match?: EventMatch | undefined
}

/** Returns JSON text that meets the conditions; `{}` if it understands none of them. */
export function dataFor({ if: filter, match }: Conditions, event: StartEvent): string {
  const draft: Draft = new Map()
  for (const [path, text] of matched(match, event)) put(draft, path, text)
  for (const term of (filter ?? '').split('&&')) {
    const [left = '', right = '', ...more] = term.split('==').map(side => side.trim())
    if (more.length > 0) continue
    const found = read(left, right, event) ?? read(right, left, event)
    if (found) put(draft, found.path, found.text)
  }
  return print(draft)
}

/** Returns the match's values below `data`, as JSON text. */
function matched(match: EventMatch | undefined, event: StartEvent): [path: Path, text: string][] {
  return valuesOf(match, event).flatMap(([path, text]): [Path, string][] => {
    const names = path.split('.').slice(1)
    return names.length === 0 || text === undefined ? [] : [[names, text]]
  })
}

function valuesOf(match: EventMatch | undefined, event: StartEvent): [path: string, text: string | undefined][] {
  if (match === undefined) return []
  if (typeof match === 'string') return [[match, textAt(match.split('.').slice(1), event)]]
  if (Array.isArray(match)) return match.flatMap(path => valuesOf(path, event))
  return Object.entries(match).map(([path, value]) => [path, JSON.stringify(value)])
}

function read(side: string, other: string, event: StartEvent): { path: Path; text: string } | undefined {
  const [, path] = ARRIVING.exec(side) ?? []
  const text = path === undefined ? undefined : jsonOf(other, event)
  return path === undefined || text === undefined ? undefined : { path: namesOf(path), text }
}

/** Returns the JSON text of a literal, or of a value of the event that started the run. */
function jsonOf(side: string, event: StartEvent): string | undefined {
  if (LITERAL.test(side)) return side.startsWith("'") ? JSON.stringify(side.slice(1, -1)) : side
  if (side === 'event.name') return JSON.stringify(event.name)
  if (side === 'event.id') return event.id === undefined ? undefined : JSON.stringify(event.id)
  const [, path] = STARTED.exec(side) ?? []
  if (path === undefined) return undefined
  return textAt(namesOf(path), event)
}

/** Returns the JSON text of a value in the data of the event that started the run. */
function textAt(path: Path, event: StartEvent): string | undefined {
  let value: unknown = event.data
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value === undefined ? undefined : sourceOf(value)
}

function namesOf(path: string): Path {
  return [...path.matchAll(/\.(\w+)|\[["']([^"']*)["']\]/g)].map(([, name, quoted]) => name ?? quoted ?? '')
}

function put(draft: Draft, [name = '', ...rest]: Path, text: string): void {
  if (rest.length === 0) {
    draft.set(name, text)
    return
  }
  const inner = draft.get(name)
  const next: Draft = inner instanceof Map ? inner : new Map()
  draft.set(name, next)
  put(next, rest, text)
}

function print(draft: Draft): string {
  const members = [...draft].map(
    ([name, value]) => `${JSON.stringify(name)}:${typeof value === 'string' ? value : print(value)}`,
  )
  return `{${members.join(',')}}`
}
