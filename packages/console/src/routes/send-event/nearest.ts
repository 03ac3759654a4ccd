// The name that was probably meant.

/** Maximum number of edits at which a name still counts as near. */
const EDITS_MAX = 3

/** Returns the known name with the fewest edits from `name`; undefined if none is near. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map(each => ({ each, edits: editsBetween(name, each) }))
    .filter(({ edits }) => edits <= Math.min(EDITS_MAX, Math.ceil(name.length / 3)))
    .sort((a, b) => a.edits - b.edits)
  return best?.each
}

function editsBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > EDITS_MAX) return EDITS_MAX + 1
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row.at(-1) as number
}
