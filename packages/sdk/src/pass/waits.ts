// The waits that the handler has called, and which of their events it was given. Called by the step tools, for each new wait.

import type { OpcodeOf } from '@perdure/protocol'
import type { Memo } from './memo.ts'
import type { StepPromise } from './step-promise.ts'
import type { WaitPromise } from './wait-promise.ts'

/** The event that a wait is for. Waits are equal if both parts are. */
export interface Awaited {
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

  /** Returns the promise of a wait, which is followed from now on. */
  follow<T>(
    { name, event, condition }: Awaited & { name: string },
    result: StepPromise<unknown>,
    change: (data: unknown) => T,
  ): WaitPromise<T> {
    const promise = result.followed(change)
    if (result.stepId !== undefined) this.#calls.set(result.stepId, { name, event, condition, promise })
    return promise
  }

  /**
   * The events that the handler was given, as the opcode of a new wait says it. `onUseless` is called with the name of an equal
   * wait whose event was given and led to nothing.
   */
  given({ event, condition }: Awaited, onUseless: (name: string) => void): OpcodeOf<'WaitForEvent'>['given'] {
    const given = new Set<string>()
    const others = new Set<string>()
    for (const { stepId, id, name, isReleased, ledToNothing } of this.#memo.events) {
      if (name !== event) continue
      const call = this.#calls.get(stepId)
      const isGiven = isReleased && call?.promise.isTaken === true
      ;(isGiven ? given : others).add(id)
      if (isGiven && ledToNothing && call.promise.isOnlyAwaited && call.condition === condition) onUseless(call.name)
    }
    const except = [...others].filter(id => !given.has(id))
    return { settled: this.#memo.settledCount, ...(except.length > 0 ? { except } : {}) }
  }
}
