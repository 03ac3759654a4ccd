// Lets a seed decide which side runs next. Every side stops before each of its store calls until it is released.

import type { Seeded } from '../../kit/seeded.ts'

export class Interleaving {
  readonly #random: Seeded
  readonly #stopped: (() => void)[] = []
  #going = 0
  #still: () => void = () => {}

  constructor(random: Seeded) {
    this.#random = random
  }

  /** The target, whose methods in `names` wait until they are released. */
  through<T extends object>(target: T, names: readonly (keyof T)[]): T {
    return new Proxy(target, {
      get: (inner, name) => {
        const value: unknown = Reflect.get(inner, name)
        if (typeof value !== 'function') return value
        const method = value.bind(inner)
        if (!names.includes(name as keyof T)) return method
        return async (...args: unknown[]) => {
          await this.turn()
          return method(...args)
        }
      },
    })
  }

  /** Runs all sides to their ends, one store call of one side at a time. */
  async run(...sides: (() => Promise<void>)[]): Promise<void> {
    this.#going = sides.length
    const ends = sides.map(side => side().finally(() => this.#stop()))
    const all = Promise.all(ends)
    // A failing side ends the race. The other sides still run to their ends.
    all.catch(() => {})
    for (;;) {
      if (this.#going > 0) await new Promise<void>(resolve => (this.#still = resolve))
      const [next] = this.#stopped.splice(this.#random.between(0, this.#stopped.length - 1), 1)
      if (!next) break
      this.#going++
      next()
    }
    await all
  }

  /** Stops the caller until it is released. */
  turn(): Promise<void> {
    return new Promise(resolve => {
      this.#stopped.push(resolve)
      this.#stop()
    })
  }

  #stop(): void {
    this.#going--
    if (this.#going === 0) this.#still()
  }
}
