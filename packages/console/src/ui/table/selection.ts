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
