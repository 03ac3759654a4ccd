// One engine's time on earth. When it dies its ports go silent, as those of a killed process do: nothing it still
// asks for happens, and no answer reaches it. The store outlives it.

import type { Clock, Store } from '@perdure/engine'

export class Life {
  #alive = true
  #end: (error: Error) => void = () => {}
  /** Rejects when it is over. */
  readonly over: Promise<never>

  constructor() {
    this.over = new Promise((_, reject) => {
      this.#end = reject
    })
    this.over.catch(() => undefined)
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Ends it; whoever waits for an answer gets this error instead. */
  end(error: Error): void {
    this.#alive = false
    this.#end(error)
  }
}

/** The shared clock as one engine sees it: no timer of a dead engine fires. */
export function mortalClock(clock: Clock, life: Life): Clock {
  return {
    now: () => clock.now(),
    at: (time, fn) =>
      clock.at(time, () => {
        if (life.alive) fn()
      }),
  }
}

/** The shared store as one engine sees it. Closing is left to the kit: another engine may come. */
export function mortalStore(store: Store, life: Life): Store {
  return mortal(store, life)
}

function mortal<T extends object>(target: T, life: Life): T {
  return new Proxy(target, {
    get(_, key) {
      // Methods are called on the target itself, whose private fields a proxy cannot reach.
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value === 'function') return key === 'close' ? closed : call(target, value, life)
      return isObject(value) ? mortal(value, life) : value
    },
  })
}

const closed = () => Promise.resolve()

function call(target: object, method: CallableFunction, life: Life) {
  return (...args: unknown[]) => {
    if (!life.alive) return never()
    const result: unknown = Reflect.apply(method, target, args)
    if (result instanceof Promise) return whileAlive(result, life)
    return isObject(result) ? mortal(result, life) : result
  }
}

/** The promise's outcome, for as long as there is somebody to hear of it. */
export function whileAlive<T>(promise: Promise<T>, life: Life): Promise<T> {
  return new Promise((resolve, reject) => {
    promise.then(
      value => {
        if (life.alive) resolve(value)
      },
      error => {
        if (life.alive) reject(error)
      },
    )
  })
}

/** What a dead engine is answered. */
export function never(): Promise<never> {
  return new Promise(() => undefined)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
