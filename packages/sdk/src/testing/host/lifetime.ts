// Simulates the crash of an engine in process. After its lifetime has ended, the engine behaves like a killed process: its
// timers do not fire, its store calls have no effect, and it gets no results. The store itself outlives the engine. Used
// by host.ts.

import type { Clock, Store } from '@perdure/engine'

/** The time from the start of one engine to its end. */
export class EngineLifetime {
  #alive = true
  #end: (error: Error) => void = () => {}
  /** Rejects when the engine ends. */
  readonly ended: Promise<never>

  constructor() {
    this.ended = new Promise((_, reject) => {
      this.#end = reject
    })
    this.ended.catch(() => undefined)
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Ends the lifetime. Requests that wait for an answer of the engine reject with `error`. */
  end(error: Error): void {
    this.#alive = false
    this.#end(error)
  }
}

/** Returns the shared clock for one engine. Its timers fire only during the engine's lifetime. */
export function clockOf(lifetime: EngineLifetime, clock: Clock): Clock {
  return {
    now: () => clock.now(),
    at: (time, fn) =>
      clock.at(time, () => {
        if (lifetime.alive) fn()
      }),
  }
}

/**
 * Returns the shared store for one engine. Its methods work only during the engine's lifetime. `close` does nothing,
 * since another engine may use the store later.
 */
export function storeOf(lifetime: EngineLifetime, store: Store): Store {
  return guarded(store, lifetime)
}

function guarded<T extends object>(target: T, lifetime: EngineLifetime): T {
  return new Proxy(target, {
    get(_, key) {
      // Methods are called on the target itself, because private fields are not accessible through a proxy.
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value === 'function') return key === 'close' ? closed : call(target, value, lifetime)
      return isObject(value) ? guarded(value, lifetime) : value
    },
  })
}

const closed = () => Promise.resolve()

function call(target: object, method: CallableFunction, lifetime: EngineLifetime) {
  return (...args: unknown[]) => {
    if (!lifetime.alive) return never()
    const result: unknown = Reflect.apply(method, target, args)
    if (result instanceof Promise) return whileAlive(result, lifetime)
    return isObject(result) ? guarded(result, lifetime) : result
  }
}

/** Settles like `promise` if that settles during the lifetime, otherwise never. */
function whileAlive<T>(promise: Promise<T>, lifetime: EngineLifetime): Promise<T> {
  return new Promise((resolve, reject) => {
    promise.then(
      value => {
        if (lifetime.alive) resolve(value)
      },
      error => {
        if (lifetime.alive) reject(error)
      },
    )
  })
}

/** Returns the promise of a call by an engine that has ended: it never settles. */
export function never(): Promise<never> {
  return new Promise(() => undefined)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
