// The one box of the runs list: free text and qualifiers, `status:failed workflow:sync "A-4711"`. Pure. The URL keeps each
// qualifier as a parameter of its own.

import type { QueryName } from '../../router/routes.ts'

type Name = QueryName<'runs'>

/** By qualifier: the parameter of the URL. */
export const QUALIFIERS = {
  status: 'status',
  workflow: 'workflow',
  app: 'app',
  type: 'type',
  since: 'since',
  until: 'until',
  waiting: 'waiting',
  error: 'error',
  parent: 'parent',
  attribute: 'attribute',
} as const satisfies Record<string, Name>

export type Filters = { readonly [Key in Name]?: string | undefined }

const TOKEN = /(?:([a-z]+):)?(?:"([^"]*)"|(\S+))/g

/** Reads the box. A word before a colon that is no qualifier is text. */
export function readBox(text: string): Filters {
  const filters: Record<string, string> = {}
  const words: string[] = []
  for (const [whole, name = '', quoted, plain] of text.matchAll(TOKEN)) {
    const value = quoted ?? plain ?? ''
    if (Object.hasOwn(QUALIFIERS, name)) filters[QUALIFIERS[name as keyof typeof QUALIFIERS]] = value
    else if (name === 'in' && value === 'payload') filters.deep = '1'
    else words.push(name === '' ? value : whole)
  }
  if (words.length > 0) filters.q = words.join(' ')
  return filters
}

/** Writes the box for these filters. */
export function writeBox(get: (name: Name) => string | undefined): string {
  const parts = Object.entries(QUALIFIERS).flatMap(([name, key]) => {
    const value = get(key)
    return value === undefined ? [] : [`${name}:${quote(value)}`]
  })
  if (get('deep') !== undefined) parts.push('in:payload')
  const text = get('q')
  if (text !== undefined) parts.push(text)
  return parts.join(' ')
}

const quote = (value: string) => (/[\s"]/.test(value) ? `"${value.replaceAll('"', '')}"` : value)
