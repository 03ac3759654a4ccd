// Bounds the work of one evaluation: the data is behind proxies that count every member read, and too many reads throw.
// Reads are counted rather than timed, so the same input always gives the same result.

/** Reads of one evaluation times the nodes of its expression: every node may work on each member that is read. */
const READS_MAX = 50_000

export class Budget {
  #left: number

  constructor(nodes: number) {
    this.#left = Math.ceil(READS_MAX / nodes)
  }

  /** The value behind a proxy that counts the reads of its members, at every depth. */
  counted<T>(value: T): T {
    if (typeof value !== 'object' || value === null) return value
    return new Proxy<object>(value, value instanceof Map ? this.#mapHandler : this.#objectHandler) as T
  }

  readonly #objectHandler: ProxyHandler<object> = {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      // The evaluator reads these from every value. Only reads of the data's own members count.
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

  /** A Map is read by its methods, which must be called on the Map itself and not on the proxy. */
  readonly #mapHandler: ProxyHandler<Map<unknown, unknown>> = {
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
