// Finds the members of a JSON value that its schema does not have. Requests with such members are refused, or accepted with
// warnings (docs/errors.md#how-requests-are-checked). Called by the HTTP layer and by the warnings of a registration.

import { cutText, hintFor, quoteName } from '@perdure/protocol'

/** The parts of a schema that have members. */
interface Node {
  type?: string
  properties?: Readonly<Record<string, Node>>
  items?: Node
  anyOf?: readonly Node[]
}

export interface UnknownMember {
  /** The name of the member with the names of the members around it: `retry.maxAttemps`. */
  field: string
  /** A sentence that the member is not known, with the name that was probably meant. */
  problem: string
}

/** The first members that are not in the schema, up to `max`. Values of the wrong type are not searched. */
export function unknownMembers(schema: object, value: unknown, max: number): UnknownMember[] {
  const found: UnknownMember[] = []
  collect(schema as Node, value, { path: '', found, max })
  return found
}

interface Search {
  path: string
  found: UnknownMember[]
  max: number
}

function collect(schema: Node, value: unknown, search: Search): void {
  if (typeof value !== 'object' || value === null) return
  const { properties, items } = branchOf(schema, value)
  if (items && Array.isArray(value)) {
    for (let i = 0; i < value.length && search.found.length < search.max; i++) {
      collect(items, value[i], { ...search, path: `${search.path}[${i}]` })
    }
  } else if (properties && !Array.isArray(value)) {
    collectMembers(properties, value as Record<string, unknown>, search)
  }
}

function collectMembers(
  properties: Readonly<Record<string, Node>>,
  value: Record<string, unknown>,
  search: Search,
): void {
  const pathOf = (name: string) => (search.path === '' ? name : `${search.path}.${name}`)
  for (const name in value) {
    if (search.found.length >= search.max) return
    if (Object.hasOwn(properties, name)) {
      const member = value[name]
      if (typeof member === 'object') collect(properties[name] as Node, member, { ...search, path: pathOf(name) })
    } else {
      const field = pathOf(name)
      const problem = `${quoteName(field)} is not known here${hintFor(name, Object.keys(properties))}`
      search.found.push({ field: cutText(field, FIELD_CHARS_MAX), problem })
    }
  }
}

const FIELD_CHARS_MAX = 256

/** The branch of a union that accepts values of this kind. */
function branchOf(schema: Node, value: object): Node {
  const type = Array.isArray(value) ? 'array' : 'object'
  return schema.anyOf?.find(branch => branch.type === type) ?? schema
}
