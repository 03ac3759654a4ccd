// Turns the arguments of a tool into the request of its operation. Pure. Called by messages.ts.

import { hintFor, quoteName } from '@perdure/protocol'
import { type Operation, operations, type QueryParam } from '@perdure/protocol/operations'
import type { ToolEntry } from './tools.ts'

/** A request to the engine itself. */
export interface ToolRequest {
  method: Operation['method']
  url: string
  /** JSON; absent if the operation takes no body, or none was given. */
  payload?: string
}

/** Arguments from which no request can be made. The message names the argument. */
export class ArgumentFault extends Error {}

type Arguments = Readonly<Record<string, unknown>>

/** Returns the request of this call. The operation checks the values; this function checks only what a URL cannot express. */
export function requestOf({ id, tool, defaults }: ToolEntry, given: Arguments): ToolRequest {
  const { method, path, query = {}, body }: Operation = operations[id]
  const known = Object.keys(tool.inputSchema.properties as object)
  for (const name of Object.keys(given)) {
    if (!known.includes(name))
      throw new ArgumentFault(`${quoteName(name)} is not an argument of ${tool.name}${hintFor(name, known)}`)
  }
  const all = { ...defaults, ...given }
  const placed = new Set<string>()
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    placed.add(name)
    return encodeURIComponent(textOf(name, all[name]))
  })
  const search = new URLSearchParams()
  for (const [name, param] of Object.entries(query)) {
    if (all[name] === undefined) continue
    placed.add(name)
    for (const text of queryTexts(name, all[name], param)) search.append(name, text)
  }
  const members = Object.entries(all).filter(([name]) => !placed.has(name))
  return {
    method,
    url: search.size > 0 ? `${filled}?${search}` : filled,
    ...(body && (body.required || members.length > 0) && { payload: JSON.stringify(Object.fromEntries(members)) }),
  }
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  if (typeof value === 'number') return String(value)
  throw new ArgumentFault(`${name} is required: a string of at least one character`)
}

function queryTexts(name: string, value: unknown, { kind }: QueryParam): string[] {
  if (kind === 'flag') {
    if (typeof value !== 'boolean') throw new ArgumentFault(`${name} must be true or false`)
    return value ? ['1'] : []
  }
  const texts = Array.isArray(value) ? value : [value]
  if (texts.length > 1 && !['enums', 'names', 'attributes'].includes(kind))
    throw new ArgumentFault(`${name} must be one value, not a list`)
  return texts.map(each => {
    if (typeof each === 'string' || typeof each === 'number') return String(each)
    throw new ArgumentFault(`${name} must be ${kind === 'integer' ? 'a number' : 'a text'}`)
  })
}
