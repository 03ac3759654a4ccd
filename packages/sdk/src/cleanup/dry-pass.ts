// A pass that only replays: it runs a handler against a memo as far as the memo goes. It executes no callback, and stores and
// emits no step. The replay uses it to find the rollbacks of the run that a cleanup run follows.

import type { Discovery } from '../pass/discoveries.ts'
import type { EncodedOpcode } from '../pass/opcode.ts'
import { Pass } from '../pass/pass.ts'
import type { StepId } from '../pass/step-ids.ts'
import type { StepPromise } from '../pass/step-promise.ts'

export class DryPass extends Pass {
  /** A step that is not in the memo is checked as in any pass, and then never settles. */
  override step(
    called: string | StepId,
    op: EncodedOpcode['op'],
    discover: (id: StepId) => Discovery,
  ): StepPromise<unknown> {
    return super.step(called, op, id => {
      discover(id)
      return nothing(id)
    })
  }
}

/** Stands for the opcode of a step that must not be executed. A sleep keeps the pass open no longer than the handler does. */
function nothing({ hashedId: id }: StepId): EncodedOpcode {
  return { id, op: 'Sleep', text: '', settles: false }
}

/** Captured before a test can replace them with fake timers. */
const { setTimeout, clearTimeout } = globalThis

/**
 * Keeps a dry pass open while the handler has not called all wanted steps, but not for long: the handler may await I/O outside of
 * steps while another step never settles here.
 */
export class DelayUntilCalled {
  readonly #isComplete: () => boolean
  readonly #ms: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #isOver = false

  constructor(isComplete: () => boolean, ms: number) {
    this.#isComplete = isComplete
    this.#ms = ms
  }

  /** Whether the pass stays open. Calls `onOver` when the time is over. */
  keepsOpen(_at: unknown, onOver: () => void): boolean {
    if (this.#isOver || this.#isComplete()) return false
    this.#timer ??= setTimeout(() => {
      this.#isOver = true
      onOver()
    }, this.#ms)
    return true
  }

  goesOn(): void {}

  stop(): void {
    clearTimeout(this.#timer)
  }
}
