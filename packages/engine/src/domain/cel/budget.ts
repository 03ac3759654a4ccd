// Bounds what one evaluation may look at. The data is seen through proxies that count every member read; an
// expression that walks on and on runs out of them. Counted, not timed: the same input always gives the same answer.

/** Reads one evaluation has, divided by the nodes of its expression: each read may lead through all of them. */
const READS = 50_000

export class Budget {
  #left: number

  constructor(nodes: number) {
    this.#left = Math.ceil(READS / nodes)
  }

  /** The value, whose reads are counted as deep as it goes. */
  over<T>(value: T): T {
    return typeof value === 'object' && value !== null ? (new Proxy(value, this.#handler) as T) : value
  }

  readonly #handler: ProxyHandler<object> = {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      // The evaluator asks for these of everything it touches; only members of the data are a read.
      if (name === 'constructor' || name === 'length') return value
      this.#spend(1)
      return this.over(value)
    },
    ownKeys: target => {
      const keys = Reflect.ownKeys(target)
      this.#spend(keys.length)
      return keys
    },
  }

  #spend(reads: number): void {
    this.#left -= reads
    if (this.#left < 0) throw new Error('the expression looks at too much of the event')
  }
}
