// The values of attributes in the rows of the list, and the filter by them. Pure.

import { VALUE_BREAK } from '../../router/routes.ts'
import type { Run } from './columns.tsx'

const SHOWN_MAX = 8

/** A value of an attribute in the rows, in the form of the filter, and the number of rows that have it. */
export interface AttributeCount {
  filter: string
  value: string
  runs: number
}

/** Returns the most frequent values of an attribute in the rows, at most eight; and those that the list is filtered by. */
export function attributeCounts(runs: readonly Run[], key: string, chosen: readonly string[]): AttributeCount[] {
  const counts = new Map<string, number>()
  for (const { attributes } of runs) {
    const value = attributes?.[key]
    if (value !== undefined) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1)
  }
  return [...counts]
    .map(([value, count]) => ({ filter: `${key}:${value}`, value, runs: count }))
    .sort((a, b) => b.runs - a.runs)
    .filter(({ filter }, i) => i < SHOWN_MAX || chosen.includes(filter))
}

/** Returns the attributes that the URL filters by. */
export const attributesOf = (text: string | undefined): string[] => text?.split(VALUE_BREAK) ?? []

/** Returns the URL's filter with this attribute added, or removed if it was there. */
export function toggledAttribute(text: string | undefined, attribute: string): string | undefined {
  const others = attributesOf(text).filter(each => each !== attribute)
  const next = others.length < attributesOf(text).length ? others : [...others, attribute]
  return next.length === 0 ? undefined : next.join(VALUE_BREAK)
}
