// The box of the runs list: free text and qualifiers, `status:failed workflow:sync "A-4711"`. Pure. The URL keeps each qualifier
// as its own parameter; box.ts reads the typed text.

import { type QueryName, VALUE_BREAK } from '../../../router/routes.ts'

type Name = QueryName<'runs'>

/** The parameters of the page that are not qualifiers. */
type NotQualifier = 'q' | 'deep' | 'sort' | 'dir' | 'cols' | 'rows' | 'live'

const IS_QUALIFIER: { readonly [Qualifier in Exclude<Name, NotQualifier>]: true } = {
  status: true,
  workflow: true,
  app: true,
  type: true,
  since: true,
  until: true,
  'ended-since': true,
  'ended-until': true,
  waiting: true,
  error: true,
  parent: true,
  root: true,
  bulk: true,
  key: true,
  attribute: true,
}
/** The qualifiers. They have the names of the URL's parameters. */
export const QUALIFIERS = Object.keys(IS_QUALIFIER) as (keyof typeof IS_QUALIFIER)[]

/** Returns the active qualifiers, one entry per value: there may be several attributes. */
export function qualified(get: (name: Name) => string | undefined): [name: Name, value: string][] {
  return QUALIFIERS.flatMap(name => (get(name)?.split(VALUE_BREAK) ?? []).map((value): [Name, string] => [name, value]))
}

/** The value of `deep` that limits a search to ids and names. */
export const NAMES_ALONE = '0'

/** Writes the box for these filters. */
export function writeBox(get: (name: Name) => string | undefined): string {
  const parts = qualified(get).map(
    ([name, value]) => `${name}:${quoted(value, name === 'workflow' || name === 'app' ? /[\s",]/ : /[\s"]/)}`,
  )
  if (get('deep') === NAMES_ALONE) parts.push('in:names')
  const text = get('q')
  if (text) parts.push(quoted(text, /[^\S ]|^ | {2}| $|[":\\]|(^| )([-!]|AND |OR |NOT )/))
  return parts.join(' ')
}

const quoted = (value: string, isMisread: RegExp) =>
  isMisread.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value
