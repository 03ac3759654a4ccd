// The waits that the handler has called, and which of their events it was given. Called by the step tools, for each new wait.

import type { OpcodeOf } from '@perdure/protocol'
import type { Memo, WaitOp } from './memo.ts'
import type { StepPromise } from './step-promise.ts'
import type { WaitPromise } from './wait-promise.ts'

/** The event of a wait. Two waits are equal if all parts are. */
export interface Awaited {
  readonly op: WaitOp
  readonly event: unknown
  readonly condition: unknown
}

interface WaitCall extends Awaited {
  readonly name: string
  readonly promise: WaitPromise<unknown>
}

export class Waits {
  readonly #memo: Memo
  /** By hashed id. */
  readonly #calls = new Map<string, WaitCall>()

  constructor(memo: Memo) {
    this.#memo = memo
  }

  /** Returns the promise of a wait and starts to follow it. */
  follow<T>(
    asked: Awaited & { name: string },
    result: StepPromise<unknown>,
    change: (data: unknown) => T,
  ): WaitPromise<T> {
    const promise = result.followed(change)
    if (result.stepId !== undefined) this.#calls.set(result.stepId, { ...asked, promise })
    return promise
  }

  /**
   * Returns the events that the handler was given, in the form for the opcode of a new wait. `onUseless` is called with the name
   * of an equal wait whose event was given and led to nothing.
   */
  given({ op, event, condition }: Awaited, onUseless: (name: string) => void): OpcodeOf<'WaitForEvent'>['given'] {
    const given = new Set<string>()
    const others = new Set<string>()
    for (const { stepId, id, name, isReleased, ledToNothing, ...settled } of this.#memo.events) {
      if (name !== event || settled.op !== op) continue
      const call = this.#calls.get(stepId)
      const isGiven = isReleased && call?.promise.isTaken === true
      ;(isGiven ? given : others).add(id)
      if (isGiven && ledToNothing && call.promise.isOnlyAwaited && call.condition === condition) onUseless(call.name)
    }
    return this.#asGiven(given, others)
  }

  /** Returns all signals that the handler was given, and with `withEvents` all events; undefined if the run has taken none. */
  givenAtEnd({ withEvents }: { withEvents: boolean }): OpcodeOf<'WaitForSignal'>['given'] {
    const given = new Set<string>()
    const others = new Set<string>()
    for (const { stepId, id, op, isReleased } of this.#memo.events) {
      if (op !== 'WaitForSignal' && !withEvents) continue
      ;(isReleased && this.#calls.get(stepId)?.promise.isTaken ? given : others).add(id)
    }
    return given.size + others.size === 0 ? undefined : this.#asGiven(given, others)
  }

  #asGiven(given: ReadonlySet<string>, others: ReadonlySet<string>): NonNullable<OpcodeOf<'WaitForEvent'>['given']> {
    const except = [...others].filter(id => !given.has(id))
    return { settled: this.#memo.settledCount, ...(except.length > 0 ? { except } : {}) }
  }
}
