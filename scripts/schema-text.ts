// Renders JSON schemas as Markdown text and tables, for `http-api-page.ts`.

import { type JsonSchema, NAMED_SCHEMAS, schemaName } from '../packages/protocol/src/openapi/schema-names.ts'

type Schema = JsonSchema | object

/** The keywords that the schemas of the protocol use. */
interface Node {
  type?: string
  description?: string
  enum?: readonly unknown[]
  const?: unknown
  anyOf?: readonly Node[]
  items?: Node
  properties?: Record<string, Node>
  patternProperties?: Record<string, Node>
  required?: readonly string[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
}

/** Returns the type of a value in a few words; a named schema is a link to its chapter. */
export function typeText(schema: Schema): string {
  const name = schemaName(schema as JsonSchema)
  if (name !== undefined) return `[${name}](#${name.toLowerCase()})`
  const node = schema as Node
  if (node.enum) return node.enum.map(value => `\`${value}\``).join(' ')
  if (node.const !== undefined) return `\`${node.const}\``
  if (node.anyOf) return node.anyOf.map(typeText).join(' or ')
  if (node.patternProperties) return `object of ${Object.values(node.patternProperties).map(typeText).join(' or ')}`
  switch (node.type) {
    case 'array':
      return `array of ${typeText(node.items ?? {})}${range(node.minItems, node.maxItems, 'items')}`
    case 'string':
      if (node.format === 'date-time') return 'timestamp'
      return `string${range(node.minLength, node.maxLength, 'characters')}${node.pattern ? `, \`${node.pattern}\`` : ''}`
    case 'integer':
    case 'number':
      return `${node.type}${range(node.minimum, node.maximum)}`
    case undefined:
      return 'any JSON'
    default:
      return node.type
  }
}

function range(from: number | undefined, to: number | undefined, unit = ''): string {
  const of = unit === '' ? '' : ` ${unit}`
  if (from !== undefined && to !== undefined) return `, ${from} to ${to}${of}`
  if (to !== undefined) return `, up to ${to}${of}`
  return from === undefined || from === 0 ? '' : `, from ${from}${of}`
}

/** Returns the content of a named schema: a table of its fields, or its alternatives. */
export function fieldsTable(schema: Schema): string {
  const node = schema as Node
  if (node.anyOf) return node.anyOf.map(branchText).join('\n\n')
  if (!node.properties) return node.enum ? node.enum.map(value => `\`${value}\``).join(' ') : typeText({ ...node })
  const rows = fields(node, '')
  const described = rows.some(([, , meaning]) => meaning !== '')
  return described
    ? table(['field', 'type', 'meaning'], rows)
    : table(
        ['field', 'type'],
        rows.map(row => row.slice(0, 2)),
      )
}

/** Returns one branch of a union: a link to a named schema, or the fields of an unnamed one. */
function branchText(branch: Node): string {
  return schemaName(branch as JsonSchema) === undefined ? fieldsTable(branch) : typeText(branch)
}

/** Returns one row per field; the fields of an unnamed object follow the object's row. */
function fields({ properties = {}, required = [] }: Node, prefix: string): string[][] {
  return Object.entries(properties).flatMap(([name, node]) => {
    const path = `${prefix}${name}${required.includes(name) ? '' : '?'}`
    const row = [`\`${path}\``, typeText(node), node.description ?? '']
    const inside = schemaName(node as JsonSchema) === undefined ? fields(node, `${path}.`) : []
    return [row, ...inside]
  })
}

/** Returns the names of the schemas that these schemas refer to, directly or indirectly. */
export function linked(schemas: readonly Schema[]): Set<string> {
  const seen = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const name = schemaName(value as JsonSchema)
    if (name !== undefined) {
      if (seen.has(name)) return
      seen.add(name)
    }
    for (const part of Object.values(value)) visit(part)
  }
  for (const schema of [...schemas, NAMED_SCHEMAS.ErrorBody]) visit(schema)
  return seen
}

/** Returns a Markdown table with aligned columns. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map(cells => cells.map(cell => cell.replaceAll('|', '\\|')))
  const widths = head.map((_, i) => Math.max(...lines.map(cells => cells[i]?.length ?? 0)))
  const line = (cells: readonly string[], fill: string) =>
    `| ${widths.map((width, i) => (cells[i] ?? '').padEnd(width, fill)).join(' | ')} |`
  const [first = [], ...rest] = lines
  const rule = line(
    widths.map(() => ''),
    '-',
  )
  return [line(first, ' '), rule, ...rest.map(cells => line(cells, ' '))].join('\n')
}
