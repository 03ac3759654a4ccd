// What a checker says when a promise is broken, and the fault the simulation itself injects.

import { EngineError } from '../../../packages/engine/src/domain/model/errors.ts'

export class Violation extends Error {
  /** Short name of the promise: while a failure is made smaller, it must stay the same one. */
  readonly invariant: string
  /** Ids the trace is filtered by: runs, events, deliveries. */
  readonly subjects: readonly string[]

  constructor(invariant: string, detail: string, subjects: readonly (string | undefined)[] = []) {
    super(`${invariant}: ${detail}`)
    this.name = 'Violation'
    this.invariant = invariant
    this.subjects = subjects.filter(subject => subject !== undefined)
  }
}

/** Throws the violation unless the promise holds; `detail` is only asked for when it does not. */
export function ensure(
  holds: unknown,
  invariant: string,
  detail: () => string,
  subjects: readonly (string | undefined)[] = [],
): asserts holds {
  if (!holds) throw new Violation(invariant, detail(), subjects)
}

/** An error the engine is meant to meet: the store or the network of the simulation made it. */
export class InjectedFault extends EngineError {
  constructor(what: string) {
    super('unavailable', `injected: ${what}`)
    this.name = 'InjectedFault'
  }
}

/** Whether two JSON-like values say the same. */
export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
