// The selected rows of a table, by key.

export interface Selection {
  keys: ReadonlySet<string>
  onChange(keys: ReadonlySet<string>): void
}

/** Returns the set with the key added, or removed if it was in the set. */
export function toggled(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(keys)
  if (!next.delete(key)) next.add(key)
  return next
}

/** Returns the rows from one place to another, both included, in any order of the places. */
export function rangeOf<Row>(rows: readonly Row[], from: number, to: number): readonly Row[] {
  return rows.slice(Math.min(from, to), Math.max(from, to) + 1)
}
