// The rows of a table that are selected, by key.

export interface Selection {
  keys: ReadonlySet<string>
  onChange(keys: ReadonlySet<string>): void
}

/** The set with the key, or without it when it was in it. */
export function toggled(keys: ReadonlySet<string>, key: string): ReadonlySet<string> {
  const next = new Set(keys)
  if (!next.delete(key)) next.add(key)
  return next
}

/** The rows from one place to another, both included, in whichever order the places are. */
export function rangeOf<Row>(rows: readonly Row[], from: number, to: number): readonly Row[] {
  return rows.slice(Math.min(from, to), Math.max(from, to) + 1)
}
