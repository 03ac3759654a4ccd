// Counts durations by size; percentiles are read from the counts. Each class is 19 % longer than the previous one, and a
// percentile is the middle of its class, so it is wrong by at most 9 %. Used by roll-ups and statistics.

/** Classes per doubling of a duration. */
const CLASSES_PER_DOUBLING = 4
/** Classes per unit of the natural logarithm. */
export const CLASSES_PER_LOG = CLASSES_PER_DOUBLING / Math.LN2
/** Keeps powers of two, whose logarithm is not exact, in the class that they begin. */
export const CLASS_ROUNDING = 1e-9

/** Durations: their sum, and the number in each class. */
export interface Durations {
  sumMs: number
  counts: Map<number, number>
}

export function noDurations(): Durations {
  return { sumMs: 0, counts: new Map() }
}

/** The class of a duration. The SQL of roll-ups computes the same (adapters/sql/rollups/ends.ts). */
export function durationClass(ms: number): number {
  return Math.floor(CLASSES_PER_LOG * Math.log(ms + 1) + CLASS_ROUNDING)
}

export function addDurations(to: Durations, { sumMs, counts }: Durations): void {
  to.sumMs += sumMs
  for (const [of, count] of counts) to.counts.set(of, (to.counts.get(of) ?? 0) + count)
}

/** For each share, the duration that this share of all durations does not exceed; undefined without durations. */
export function percentiles<Name extends string>(
  { counts }: Durations,
  shares: Readonly<Record<Name, number>>,
): Partial<Record<Name, number>> {
  const classes = [...counts].sort(([a], [b]) => a - b)
  const all = classes.reduce((sum, [, count]) => sum + count, 0)
  const found: Partial<Record<Name, number>> = {}
  if (all === 0) return found
  for (const [name, share] of Object.entries(shares) as [Name, number][]) {
    let left = Math.ceil(share * all)
    const at = classes.findIndex(([, count]) => {
      left -= count
      return left <= 0
    })
    found[name] = middle((classes[at] as [number, number])[0])
  }
  return found
}

function middle(of: number): number {
  return Math.round(2 ** ((of + 0.5) / CLASSES_PER_DOUBLING) - 1)
}
