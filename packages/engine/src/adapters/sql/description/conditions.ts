// The WHERE clause of a query whose filters may be absent.

import type { Value } from './values.ts'

/** The conditions whose value is given, and their values: a list for a condition with several placeholders or none. */
export function conditions(values: Readonly<Record<string, Value | readonly Value[] | undefined>>): {
  terms: string
  params: Value[]
} {
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return {
    terms: given.map(([term]) => term).join(' AND '),
    params: given.flatMap(([, value]) => value as Value | Value[]),
  }
}
