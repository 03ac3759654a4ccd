// Bounds what one evaluation may look at. The data is seen through proxies that count every member read; an
// expression that walks on and on runs out of them. Counted, not timed: the same input always gives the same answer.

/** Reads one evaluation has, divided by the nodes of its expression: each read may lead through all of them. */
const READS_MAX = 50_000

export class Budget {
  #left: number

  constructor(nodes: number) {
    this.#left = Math.ceil(READS_MAX / nodes)
  }

  /** The value, whose reads are counted as deep as it goes. */
  counted<T>(value: T): T {
    if (typeof value !== 'object' || value === null) return value
    return new Proxy<object>(value, value instanceof Map ? this.#ofMaps : this.#ofObjects) as T
  }

  readonly #ofObjects: ProxyHandler<object> = {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      // The evaluator asks for these of everything it touches; only members of the data are a read.
      if (name === 'constructor' || (name === 'length' && Array.isArray(target))) return value
      this.#spend(1)
      return this.counted(value)
    },
    ownKeys: target => {
      const keys = Reflect.ownKeys(target)
      this.#spend(keys.length)
      return keys
    },
  }

  /** The members of a Map are behind its methods, which work on the Map alone. */
  readonly #ofMaps: ProxyHandler<Map<unknown, unknown>> = {
    get: (map, name) => {
      const value: unknown = Reflect.get(map, name, map)
      if (name === 'constructor' || typeof value !== 'function') return value
      if (name === 'get' || name === 'has') {
        return (member: unknown) => {
          this.#spend(1)
          return this.counted(map[name](member))
        }
      }
      this.#spend(map.size)
      return value.bind(new Map(Array.from(map, ([member, within]) => [member, this.counted(within)])))
    },
  }

  #spend(reads: number): void {
    this.#left -= reads
    if (this.#left < 0) throw new Error('the expression looks at too much of the event')
  }
}
