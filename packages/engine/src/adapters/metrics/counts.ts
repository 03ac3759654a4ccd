// The numbers behind the metrics: counters with labels and histograms, where counting is a few additions. exposition.ts
// turns them into Prometheus' text on each scrape.

export interface Sample {
  labels: Record<string, string | number>
  value: number
}

/** One counter for each combination of label values. There must be few values, without line breaks. */
export class Counts {
  readonly #labels: readonly string[]
  readonly #counts = new Map<string, number>()

  constructor(...labels: string[]) {
    this.#labels = labels
  }

  /** Creates counts for every combination of these values, which begin at 0: a rate needs the value before the first rise. */
  static of(known: Readonly<Record<string, readonly string[]>>): Counts {
    const counts = new Counts(...Object.keys(known))
    counts.know(...Object.values(known))
    return counts
  }

  /** Adds the values of each label, in the order of the labels. */
  know(...known: (readonly string[])[]): void {
    const combinations = known.reduce<string[][]>(
      (before, values) => before.flatMap(each => values.map(value => [...each, value])),
      [[]],
    )
    for (const values of combinations) {
      const key = values.join('\n')
      if (!this.#counts.has(key)) this.#counts.set(key, 0)
    }
  }

  /** Takes the values in the order of the labels. */
  add(...values: string[]): void {
    const key = values.join('\n')
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  samples(): Sample[] {
    return [...this.#counts].map(([key, value]) => {
      const values = key.split('\n')
      return { labels: Object.fromEntries(this.#labels.map((label, i) => [label, values[i] ?? ''])), value }
    })
  }
}

export interface Histogram {
  /** Distinguishes the histograms of one metric. */
  readonly labels?: Record<string, string>
  /** Ascending upper bounds. */
  readonly bounds: readonly number[]
  /** The count of each bound, without those of smaller bounds; the last is for all larger values. */
  readonly counts: readonly number[]
  readonly sum: number
}

export class Buckets implements Histogram {
  readonly labels: Record<string, string>
  readonly bounds: readonly number[]
  readonly counts: number[]
  sum = 0

  constructor(bounds: readonly number[], labels: Record<string, string>) {
    this.labels = labels
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
