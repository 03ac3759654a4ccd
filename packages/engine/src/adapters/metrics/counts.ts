// The numbers behind the metrics: counters with labels and a histogram, where counting is a few additions. exposition.ts
// turns them into Prometheus' text on each scrape.

/** One counter for each combination of label values, in a fixed order. Values must be few and without line breaks. */
export class Counts {
  readonly #counts = new Map<string, number>()

  add(...values: string[]): void {
    const key = values.join('\n')
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  /** The label values of each counter, and its count. */
  *entries(): Iterable<[values: string[], count: number]> {
    for (const [key, count] of this.#counts) yield [key.split('\n'), count]
  }
}

/** A histogram: counts values by ascending upper bounds. */
export class Buckets {
  readonly bounds: readonly number[]
  /** The count of each bound, without those of smaller bounds; the last is for all larger values. */
  readonly counts: number[]
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  observe(value: number): void {
    let i = 0
    while (i < this.bounds.length && value > (this.bounds[i] as number)) i++
    this.counts[i] = (this.counts[i] as number) + 1
    this.sum += value
  }
}

/** Most workflows named per namespace; further ones are `other`, since users choose the names. */
export const NAMED_WORKFLOWS_MAX = 100

const OTHER = 'other'

/** Admits the first NAMED_WORKFLOWS_MAX pairs of app and workflow; every later pair becomes `other`. */
export class BoundedNames {
  readonly #known = new Set<string>()

  admit(app: string, workflow: string): [app: string, workflow: string] {
    const name = `${app}\n${workflow}`
    if (this.#known.has(name)) return [app, workflow]
    if (this.#known.size >= NAMED_WORKFLOWS_MAX) return [OTHER, OTHER]
    this.#known.add(name)
    return [app, workflow]
  }
}
