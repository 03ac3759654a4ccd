// Lets a seed decide who goes next: every side stops before each call of its store, until it is let through.

import type { Seeded } from '../../kit/seeded.ts'

export class Interleaving {
  readonly #random: Seeded
  readonly #stopped: (() => void)[] = []
  #going = 0
  #still: () => void = () => {}

  constructor(random: Seeded) {
    this.#random = random
  }

  /** The target, whose methods called `names` wait for their turn. */
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

  /** Runs the sides to their ends, one step of one side at a time. */
  async run(...sides: (() => Promise<void>)[]): Promise<void> {
    this.#going = sides.length
    const ends = sides.map(side => side().finally(() => this.#stop()))
    const all = Promise.all(ends)
    // A side that fails ends the race; the others are let run out.
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

  /** Stops the side that calls it until it is let through. */
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
