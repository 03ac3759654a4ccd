// Values that several runners have, as one text. Pure.

/**
 * Returns each value once, the most frequent first, with its count unless it is the only value: "node (3), bun (1)". Leaves out
 * empty values.
 */
export function tally(values: readonly (string | undefined)[]): string {
  const counts = new Map<string, number>()
  for (const value of values) if (value) counts.set(value, (counts.get(value) ?? 0) + 1)
  const sorted = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  return sorted.map(([value, count]) => (sorted.length === 1 ? value : `${value} (${count})`)).join(', ')
}
