// The middleware of a runner and of a workflow, combined into one chain. Called by the replay and the client.

import type { RunContext, WorkflowEvent } from '../run/run-context.ts'
import { NonRetriableError } from '../wire/errors.ts'
import type { InputPlace, Middleware, OutputPlace, PassEnd } from './middleware.ts'

/** A list of middleware, outermost first. */
export class MiddlewareChain {
  readonly #list: readonly Middleware[]
  readonly #inputs: readonly Middleware[]
  readonly #outputs: readonly Middleware[]
  readonly #runs: readonly Middleware[]
  readonly #steps: readonly Middleware[]

  constructor(list: readonly Middleware[]) {
    this.#list = list
    this.#inputs = list.filter(({ transformInput }) => transformInput)
    this.#outputs = list.filter(({ transformOutput }) => transformOutput).reverse()
    this.#runs = list.filter(({ wrapRun }) => wrapRun).reverse()
    this.#steps = list.filter(({ wrapStep }) => wrapStep).reverse()
  }

  /** Whether any middleware changes values from the engine. */
  get changesInput(): boolean {
    return this.#inputs.length > 0
  }

  /** Whether any middleware wraps the callback of a step, or changes its result. */
  get touchesSteps(): boolean {
    return this.#steps.length > 0 || this.#outputs.length > 0
  }

  /** Whether any middleware wraps the handler, or changes its result. */
  get touchesRuns(): boolean {
    return this.#runs.length > 0 || this.#outputs.length > 0
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

  /** Runs a handler inside every `wrapRun`. */
  run(call: { ctx: RunContext; event: WorkflowEvent }, handler: () => unknown): Promise<unknown> {
    const around = this.#runs.reduce((inner, one) => {
      const next = once(inner, `${one.name}: wrapRun`)
      return async () => one.wrapRun?.({ ...call, next })
    }, inPromise(handler))
    return around()
  }

  /** Runs the callback of a step inside every `wrapStep`. */
  step(call: { name: string; ctx: RunContext }, callback: () => unknown): Promise<unknown> {
    const { name, ctx } = call
    const around = this.#steps.reduce((next, one) => {
      return async () => one.wrapStep?.({ step: { name, op: 'StepRun' }, ctx, next })
    }, inPromise(callback))
    return around()
  }

  /** Calls every `onPassEnd`. Passes a message about each that throws to `report`. */
  passEnded(ctx: RunContext, end: PassEnd, report: (message: string) => void): void {
    for (const one of this.#list) {
      if (!one.onPassEnd) continue
      try {
        const returned: unknown = one.onPassEnd({ ctx, end })
        // The pass is answered before this promise settles, so its rejection cannot be reported any more.
        if (isThenable(returned)) returned.then(undefined, () => undefined)
      } catch (error) {
        report(`Middleware "${one.name}": onPassEnd failed: ${error instanceof Error ? error.message : error}`)
      }
    }
  }
}

const EMPTY_CHAIN = new MiddlewareChain([])

/** Combines several lists of middleware into one chain; the first list is the outermost. */
export function chainOf(...lists: readonly (readonly Middleware[] | undefined)[]): MiddlewareChain {
  const all = lists.flatMap(list => list ?? [])
  return all.length === 0 ? EMPTY_CHAIN : new MiddlewareChain(all)
}

/** Throws a TypeError that names the owner when `list` is not a list of middleware. */
export function checkMiddleware(list: readonly Middleware[] | undefined, owner: string): void {
  if (list === undefined) return
  const wrong = Array.isArray(list) ? list.findIndex(one => typeof one?.name !== 'string' || one.name === '') : 0
  if (wrong >= 0) throw new TypeError(`${owner}: middleware must be a list of objects with a name`)
}

function inPromise(call: () => unknown): () => Promise<unknown> {
  return async () => call()
}

/** Refuses a second `next()`: it would run the handler twice in one pass, and its steps would get other ids. */
function once(call: () => Promise<unknown>, what: string): () => Promise<unknown> {
  let called = false
  return async () => {
    if (called) throw new NonRetriableError(`Middleware ${what} called next() twice`)
    called = true
    return call()
  }
}

function requireSynchronous(value: unknown, what: string): unknown {
  if (!isThenable(value)) return value
  value.then(undefined, () => undefined)
  throw new NonRetriableError(`Middleware ${what} returned a promise, but must be synchronous`)
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
