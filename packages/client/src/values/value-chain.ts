// The middleware that changes values, combined into one chain. Called by the client, and by the SDK's chain, which extends it.

import { NonRetriableError } from '../errors/data-errors.ts'
import type { InputPlace, OutputPlace, ValueMiddleware } from './middleware.ts'

/** A list of middleware, outermost first. */
export class ValueChain {
  readonly #inputs: readonly ValueMiddleware[]
  readonly #outputs: readonly ValueMiddleware[]

  constructor(list: readonly ValueMiddleware[] = []) {
    this.#inputs = list.filter(({ transformInput }) => transformInput)
    this.#outputs = list.filter(({ transformOutput }) => transformOutput).reverse()
  }

  /** Whether any middleware changes values from the engine. */
  get changesInput(): boolean {
    return this.#inputs.length > 0
  }

  /** Whether any middleware changes values to the engine. */
  get changesOutput(): boolean {
    return this.#outputs.length > 0
  }

  /** Changes a value from the engine into the one that the handler sees. */
  input(value: unknown, place: InputPlace): unknown {
    return this.#inputs.reduce((changed, one) => {
      if (changed === undefined) return undefined
      return requireSynchronous(one.transformInput?.(changed, place), `${one.name}: transformInput`)
    }, value)
  }

  /** Changes a value of the handler into the one that the engine stores. */
  output(value: unknown, place: OutputPlace): unknown {
    return this.#outputs.reduce((changed, one) => {
      if (changed === undefined) return undefined
      return requireSynchronous(one.transformOutput?.(changed, place), `${one.name}: transformOutput`)
    }, value)
  }
}

/** Throws a TypeError that names the owner when `list` is not a list of middleware. */
export function checkMiddleware(list: readonly ValueMiddleware[] | undefined, owner: string): void {
  if (list === undefined) return
  const wrong = Array.isArray(list) ? list.findIndex(one => typeof one?.name !== 'string' || one.name === '') : 0
  if (wrong >= 0) throw new TypeError(`${owner}: middleware must be a list of objects with a name`)
}

function requireSynchronous(value: unknown, what: string): unknown {
  if (!isThenable(value)) return value
  value.then(undefined, () => undefined)
  throw new NonRetriableError(`Middleware ${what} returned a promise, but must be synchronous`)
}

/** Whether a value is a promise, or behaves as one. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as PromiseLike<unknown>).then === 'function'
}
