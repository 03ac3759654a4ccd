// A handler that undoes steps as docs/wire-protocol.md#cleanup says, written without the SDK.

import type { Handler } from './plain-runner.ts'
import { flow, run, type Step } from './steps.ts'

export interface Undoing {
  /** Undoes a step. The default only records that it was called. */
  undo?: (step: string, data: unknown) => unknown
  /** The steps that come first in the cleanup of a cancelled run. */
  onCancel?: Step[]
}

/** Calls `handler` for runs of the workflow, and undoes their steps in cleanup runs, the last settled first. */
export function undoing(handler: Handler, { undo = () => 'undone', onCancel = [] }: Undoing = {}): Handler {
  return (invoke, record) => {
    const { cleanup } = invoke.ctx
    if (!cleanup) return handler(invoke, record)
    const undone = Object.values(cleanup.steps)
      .filter(({ rollback }) => rollback)
      .reverse()
      .map(({ name, data }) => run(`rollback:${name}`, () => undo(name, data), { catchable: true }))
    return flow([...(cleanup.status === 'cancelled' ? onCancel : []), ...undone])(invoke, record)
  }
}
