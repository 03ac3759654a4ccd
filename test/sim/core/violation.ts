// The error of a broken check, and the faults that the simulation itself injects.

import { EngineError } from '../../../packages/engine/src/domain/model/errors.ts'

export class Violation extends Error {
  /** The short name of the check. It must stay the same while a failure is shrunk. */
  readonly invariant: string
  /** The ids that filter the trace: runs, events, deliveries. */
  readonly subjects: readonly string[]

  constructor(invariant: string, detail: string, subjects: readonly (string | undefined)[] = []) {
    super(`${invariant}: ${detail}`)
    this.name = 'Violation'
    this.invariant = invariant
    this.subjects = subjects.filter(subject => subject !== undefined)
  }
}

/** Throws the violation unless the check holds. `detail` is called only when it throws. */
export function ensure(
  holds: unknown,
  invariant: string,
  detail: () => string,
  subjects: readonly (string | undefined)[] = [],
): asserts holds {
  if (!holds) throw new Violation(invariant, detail(), subjects)
}

/** An expected error: the simulation's store or network raised it on purpose. */
export class InjectedFault extends EngineError {
  constructor(what: string) {
    super('unavailable', `injected: ${what}`)
    this.name = 'InjectedFault'
  }
}

/** Whether two JSON-like values are equal. */
export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
