// Simulates the crash of an engine in process. After its lifetime has ended, the engine behaves like a killed process: its
// timers do not fire, its store calls have no effect, and it gets no results. The store itself outlives the engine. Used
// by host.ts.

import type { Clock } from '@perdure/engine'
import { deferred } from '../../run/deferred.ts'

/** The time from the start of one engine to its end. */
export class EngineLifetime {
  readonly #ended = deferred<never>()
  alive = true

  /** Rejects when the engine ends. */
  get ended(): Promise<never> {
    return this.#ended.promise
  }

  /** Ends the lifetime. Requests that wait for an answer of the engine reject with `error`. */
  end(error: Error): void {
    this.alive = false
    this.#ended.reject(error)
  }
}

/** Returns the shared clock for one engine. Its timers fire only during the engine's lifetime. */
export function clockOf(lifetime: EngineLifetime, clock: Clock): Clock {
  const whileAlive = (fn: () => void) => () => {
    if (lifetime.alive) fn()
  }
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    at: (time, fn) => clock.at(time, whileAlive(fn)),
    after: (ms, fn) => clock.after(ms, whileAlive(fn)),
  }
}

/**
 * Returns the shared store for one engine, or a part of it. Its methods work only during the engine's lifetime. `close` does
 * nothing, because another engine may use the store later.
 */
export function guarded<T extends object>(target: T, lifetime: EngineLifetime): T {
  return new Proxy(target, {
    get(_, key) {
      // Methods are called on the target itself, because private fields are not accessible through a proxy.
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value === 'function') return key === 'close' ? async () => {} : call(target, value, lifetime)
      return isObject(value) ? guarded(value, lifetime) : value
    },
  })
}

function call(target: object, method: CallableFunction, lifetime: EngineLifetime) {
  return (...args: unknown[]) => {
    if (!lifetime.alive) return never()
    const result: unknown = Reflect.apply(method, target, args)
    // If the lifetime has ended when a call settles, the call never settles for its engine.
    if (result instanceof Promise) return result.finally(() => (lifetime.alive ? undefined : never()))
    return isObject(result) ? guarded(result, lifetime) : result
  }
}

/** Returns the promise of a call by an engine that has ended: it never settles. */
export function never(): Promise<never> {
  return new Promise(() => undefined)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
