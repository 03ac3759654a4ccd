// A pass that only replays: it runs a handler against a memo as far as the memo goes. It executes no callback, and stores and
// emits no step. The replay uses it to find the rollbacks of the run that a cleanup run follows.

import type { Discovery } from '../pass/discoveries.ts'
import type { EncodedOpcode } from '../pass/opcode.ts'
import { Pass } from '../pass/pass.ts'
import type { StepId } from '../pass/step-ids.ts'
import type { StepPromise } from '../pass/step-promise.ts'
import type { Delay } from '../run/answer-delay.ts'

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
export function delayUntil(isComplete: () => boolean, ms: number): Delay {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  return {
    keepsOpen(_at, onOver) {
      if (isOver || isComplete()) return false
      timer ??= setTimeout(() => {
        isOver = true
        onOver()
      }, ms)
      return true
    },
    goesOn() {},
    stop: () => clearTimeout(timer),
  }
}
