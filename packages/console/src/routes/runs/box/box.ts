// Reads the box of the runs list (qualifiers.ts). Pure. Refuses text that it does not understand, and shows how to write it, so
// that no search silently ignores a part of the text.

import { DAYS, startOf } from '../../../data/time/window.ts'
import { type QueryName, VALUE_BREAK } from '../../../router/routes.ts'
import { nearest } from '../../send-event/nearest.ts'
import { VALUES } from './completions.ts'
import { NAMES_ALONE, QUALIFIERS } from './qualifiers.ts'

export type Filters = { readonly [Key in QueryName<'runs'>]?: string | undefined }
export type Read = { filters: Filters } | { refused: string }

/** A negation mark, a qualifier, and a text with or without quotes. A colon before a space or slashes makes no qualifier. */
const TOKEN = /(?:([-!]?)([A-Za-z][\w.-]+):(?!\/\/|\s|$))?(?:"((?:[^"\\]|\\.)*)"(?=\s|$)|(\S+))/gs
const NAMES: readonly string[] = QUALIFIERS
/** The qualifiers whose value is a list, and the separator of its items in the URL. */
const LISTS: Readonly<Record<string, string>> = { status: ',', attribute: VALUE_BREAK }
const TIMES = ['since', 'until', 'ended-since', 'ended-until']
const OPERATORS = ['AND', 'OR', 'NOT']

class Refusal extends Error {}

/** Returns the filters of the box, or the reason why it cannot be read. */
export function readBox(text: string): Read {
  const filters: Record<string, string> = {}
  const words: string[] = []
  try {
    for (const [whole, mark = '', name = '', quoted, plain = ''] of text.matchAll(TOKEN)) {
      if (name === '') words.push(word(whole, quoted))
      else
        add(filters, {
          whole,
          mark,
          name: name.toLowerCase(),
          value: unescaped(quoted) ?? plain,
          isQuoted: quoted !== undefined,
        })
    }
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message }
    throw error
  }
  if (words.length > 0) filters.q = words.join(' ')
  return { filters }
}

const unescaped = (quoted: string | undefined) => quoted?.replace(/\\(["\\])/g, '$1')

function word(whole: string, quoted: string | undefined): string {
  if (quoted !== undefined) return unescaped(quoted) as string
  if (OPERATORS.includes(whole))
    throw new Refusal(`All filters and words must match. To search for ${whole} as text, write "${whole}".`)
  const name = whole.replace(/:$/, '').toLowerCase()
  // Many pasted messages begin with "Error: …".
  if (whole.endsWith(':') && name !== 'error' && NAMES.includes(name))
    throw new Refusal(`${whole} has no value. Write the value directly after the colon, or quote the text.`)
  return whole
}

interface Token {
  whole: string
  mark: string
  name: string
  value: string
  isQuoted: boolean
}

function add(filters: Record<string, string>, { whole, mark, name, value, isQuoted }: Token): void {
  if (name === 'in') {
    const place = value.toLowerCase()
    if (mark !== '' || (place !== 'names' && place !== 'payload'))
      throw new Refusal(
        `${whole} is not supported: in:names searches ids and names only; without it, payloads are searched as well.`,
      )
    if (place === 'names') filters.deep = NAMES_ALONE
    return
  }
  if (!NAMES.includes(name)) throw new Refusal(unknown(whole, name))
  if (mark !== '') throw new Refusal(`${whole} is not supported: filters cannot be negated.`)
  const known = filters[name]
  const between = LISTS[name]
  if (known !== undefined && between === undefined) throw new Refusal(`${name}: appears twice but takes one value.`)
  const checked = isQuoted ? value : checkedValue(name, value)
  filters[name] = known === undefined ? checked : `${known}${between}${checked}`
}

function unknown(whole: string, name: string): string {
  const near = nearest(name, [...NAMES, 'in'])
  const meant = near === undefined ? '' : ` Did you mean ${near}:…?`
  return `There is no filter ${name}:.${meant} In quotes, "${whole.replaceAll('"', '')}", it is text; attribute:${whole} is an attribute.`
}

/** Returns the value in the engine's form. Throws a Refusal for an impossible value. */
function checkedValue(name: string, value: string): string {
  const isPattern = name === 'workflow' ? ' or a prefix with a star, such as workflow:sync-*,' : ''
  if ((name === 'workflow' || name === 'app') && value.includes(','))
    throw new Refusal(
      `${name}: takes one name,${isPattern} not a list. Quote a name that contains a comma, ${name}:"${value}".`,
    )
  if (TIMES.includes(name)) return checkedTime(name, value)
  const words = CLOSED.includes(name) ? (VALUES[name]?.({ workflows: [], apps: [] }) ?? []) : []
  if (words.length === 0) return value
  return value
    .split(name === 'status' ? ',' : VALUE_BREAK)
    .map(each => {
      const wanted = each.toLowerCase()
      if (words.includes(wanted)) return wanted
      const near = nearest(wanted, words)
      throw new Refusal(
        `${name}:${each} is not valid: use one of ${words.join(', ')}.${near ? ` Did you mean ${near}?` : ''}`,
      )
    })
    .join(',')
}

/** Returns a length, a day or a time in the URL's form. Throws a Refusal for any other text. */
function checkedTime(name: string, value: string): string {
  const day = value.toLowerCase()
  if (DAYS.includes(day)) return day
  if (startOf(value, 0) !== undefined) return value
  const near = nearest(day, DAYS)
  throw new Refusal(
    `${name}:${value} is not a time: write 30m, 24h or 7d ago, today, yesterday, a day such as 2026-01-31, or a time such as 2026-01-31T12:00Z.${near ? ` Did you mean ${near}?` : ''}`,
  )
}

/** The qualifiers whose possible values are all known. */
const CLOSED = ['status', 'type', 'waiting', 'root']
