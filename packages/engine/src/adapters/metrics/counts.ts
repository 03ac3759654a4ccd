// The numbers behind the metrics: counters with labels and a histogram, each a few additions to count. Prometheus'
// text is made of them only when somebody asks (exposition.ts).

/** Counters told apart by the values of some labels, in a fixed order. Values must be few, and hold no line break. */
export class Counts {
  readonly #counts = new Map<string, number>()

  add(...values: string[]): void {
    const key = values.join('\n')
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  /** The values of the labels and how often they were counted. */
  *entries(): Iterable<[values: string[], count: number]> {
    for (const [key, count] of this.#counts) yield [key.split('\n'), count]
  }
}

/** How often something was at most so large, for bounds that rise. */
export class Buckets {
  readonly bounds: readonly number[]
  /** Of each bound, not counting smaller ones; the last is of all beyond. */
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

/** Beyond these the name is `other`: label values must not grow with what users make up. */
export const NAMES_MAX = 100

const OTHER = 'other'

/** Admits the first pairs of app and workflow it is asked for; every later one is `other`. */
export class BoundedNames {
  readonly #known = new Set<string>()

  admit(app: string, workflow: string): [app: string, workflow: string] {
    const name = `${app}\n${workflow}`
    if (this.#known.has(name)) return [app, workflow]
    if (this.#known.size >= NAMES_MAX) return [OTHER, OTHER]
    this.#known.add(name)
    return [app, workflow]
  }
}
