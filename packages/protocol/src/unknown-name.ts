// Describes an unknown name (a parameter, a member, an option, a setting) and finds the known name that was probably meant.
// Called by the engine's checks of requests and by the SDK's checks of options.

import { cutText } from './cut-text.ts'

/** Longer names are compared by their beginnings: the work grows with the product of both lengths. */
const COMPARED_CHARS_MAX = 64
/** A list of more names than this is cut off. */
const LISTED_MAX = 20

/** Returns the end of a sentence about an unknown name: `; did you mean "limit"?`, else the known names, else nothing. */
export function hintFor(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known)
  if (nearest !== undefined) return `; did you mean "${nearest}"?`
  if (known.length === 0) return ''
  const more = known.length > LISTED_MAX ? ', …' : ''
  return `; known are ${known.slice(0, LISTED_MAX).join(', ')}${more}`
}

/** Quotes a name from outside, cut off for a message. */
export function quoteName(name: string): string {
  return JSON.stringify(cutText(name, COMPARED_CHARS_MAX, '…'))
}

/**
 * Returns the known name that is nearest to `name`, if one is near: equal except for case and separators, one the beginning of
 * the other, or within three edits for every seven characters (`retries` for `retry`).
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name)
  let nearest: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const distance = distanceOf(wanted, plain(candidate))
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

/** Lower case, without the separators in which styles of names differ. */
function plain(name: string): string {
  return name
    .slice(0, COMPARED_CHARS_MAX)
    .toLowerCase()
    .replace(/[-_.\s]/g, '')
}

/** The distance between two names; infinite if neither can be a misspelling of the other. */
function distanceOf(a: string, b: string): number {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  const edits = editsBetween(short, long)
  if (edits <= Math.max(1, Math.floor((long.length * 3) / 7))) return edits
  // Farther than any misspelling, such as `concurrencyLimit` for `concurrency`.
  return short.length >= 3 && long.startsWith(short) ? long.length : Number.POSITIVE_INFINITY
}

/** The number of edits that turn one text into the other: insert, delete, replace, or swap with a neighbour. */
function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      let edits = Math.min(replaced, (last[j] as number) + 1, (row[j - 1] as number) + 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) edits = Math.min(edits, (beforeLast[j - 2] as number) + 1)
      row.push(edits)
    }
    ;[beforeLast, last] = [last, row]
  }
  return last[b.length] as number
}

/** Maximum number of similar names. */
const NEAREST_MAX = 3
/** Maximum number of names that a name is compared with. */
const COMPARED_MAX = 2000

/** The names that are near to the name, the nearest first. */
export function nearestNames(name: string, names: readonly string[]): string[] {
  const left = new Set(names.slice(0, COMPARED_MAX))
  const nearest: string[] = []
  while (nearest.length < NEAREST_MAX) {
    const next = nearestName(name, [...left])
    if (next === undefined) break
    left.delete(next)
    nearest.push(next)
  }
  return nearest
}
