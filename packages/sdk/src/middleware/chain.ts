// The middleware of a runner and of a workflow, combined into one chain. Called by the replay.

import { NonRetriableError } from '@perdure/client'
import { isThenable, ValueChain } from '@perdure/client/internal'
import type { RunContext, WorkflowEvent } from '../run/run-context.ts'
import type { RunnerLog } from '../run/runner-log.ts'
import type { Middleware, PassEnd, RunEndCall, StepCall } from './middleware.ts'

/** A list of middleware, outermost first. */
export class MiddlewareChain extends ValueChain {
  readonly #list: readonly Middleware[]
  readonly #runs: readonly Middleware[]
  readonly #steps: readonly Middleware[]

  constructor(list: readonly Middleware[]) {
    super(list)
    this.#list = list
    this.#runs = list.filter(({ wrapRun }) => wrapRun).reverse()
    this.#steps = list.filter(({ wrapStep }) => wrapStep).reverse()
  }

  /** Whether any middleware wraps the callback of a step, or changes its result. */
  get touchesSteps(): boolean {
    return this.#steps.length > 0 || this.changesOutput
  }

  /** Whether any middleware wraps the handler, or changes its result. */
  get touchesRuns(): boolean {
    return this.#runs.length > 0 || this.changesOutput
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
  step(call: Omit<StepCall, 'next'>, callback: () => unknown): Promise<unknown> {
    const around = this.#steps.reduce((next, one) => {
      return async () => one.wrapStep?.({ ...call, next })
    }, inPromise(callback))
    return around()
  }

  /** Calls every `onPassEnd`. Reports each one that throws through `report`. */
  passEnded(ctx: RunContext, end: PassEnd, report: (message: string) => void): void {
    this.#tell('onPassEnd', one => one.onPassEnd?.({ ctx, end }), report)
  }

  /** Calls every `onEnd`. Logs a message about each that throws. */
  runEnded({ ctx, event, end }: RunEndCall, log: RunnerLog): void {
    this.#tell(
      'onEnd',
      one => one.onEnd?.({ ctx, event, end }),
      message => log('error', `Run ${ctx.runId}: ${message}`),
    )
  }

  #tell(name: string, tell: (one: Middleware) => unknown, report: (message: string) => void): void {
    for (const one of this.#list) {
      try {
        const returned = tell(one)
        // The pass is answered before this promise settles, so nothing can report its rejection.
        if (isThenable(returned)) returned.then(undefined, () => undefined)
      } catch (error) {
        report(`Middleware "${one.name}": ${name} failed: ${error instanceof Error ? error.message : error}`)
      }
    }
  }
}

const EMPTY_CHAIN = new MiddlewareChain([])

/** Combines several lists of middleware into one chain; the first list is the outermost. */
export function chainOf(...lists: readonly (readonly Middleware[] | undefined)[]): MiddlewareChain {
  if (lists.every(list => list === undefined || list.length === 0)) return EMPTY_CHAIN
  return new MiddlewareChain(lists.flatMap(list => list ?? []))
}

function inPromise(call: () => unknown): () => Promise<unknown> {
  return async () => call()
}

/** Refuses a second `next()`: it would run the handler twice in one pass, and the steps would get other ids. */
function once(call: () => Promise<unknown>, what: string): () => Promise<unknown> {
  let called = false
  return async () => {
    if (called) throw new NonRetriableError(`Middleware ${what} called next() twice`)
    called = true
    return call()
  }
}
