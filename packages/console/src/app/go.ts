// Finds the page of any id: for `/console/go/{id}`, which logs and the command link to, and for the palette.

import type { Target } from '../router/router.tsx'

const PAGES: Readonly<Record<string, (id: string) => Target>> = {
  run: id => ({ to: 'run', params: { id } }),
  evt: id => ({ to: 'event', params: { id } }),
  dlv: id => ({ to: 'delivery', params: { id } }),
  whe: id => ({ to: 'endpoint', params: { id } }),
  whr: id => ({ to: 'receiver', params: { id } }),
  blk: id => ({ to: 'bulk', params: { id } }),
  // An id begins with its time: earlier entries of the log need no search.
  act: id => ({ to: 'audit', query: { since: timeOfId(id), target: id } }),
  key: id => ({ to: 'keys', query: { id } }),
}

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const TIME_DIGITS = 10

/** Returns the time at which an id was created; undefined for an id without a time. */
function timeOfId(id: string): string | undefined {
  const digits = [...id.slice(4, 4 + TIME_DIGITS)].map(digit => DIGITS.indexOf(digit))
  if (digits.length < TIME_DIGITS || digits.includes(-1)) return undefined
  const at = new Date(digits.reduce((sum, digit) => sum * 32 + digit, 0))
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

/** Returns the page of an id; undefined for a text that is not an id. */
export function targetOfId(id: string): Target | undefined {
  const [, prefix = ''] = /^([a-z]{3})_[A-Za-z0-9_-]{1,128}$/.exec(id) ?? []
  return PAGES[prefix]?.(id)
}
