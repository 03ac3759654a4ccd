// WaitForCallback: a step that a post to its URL settles (docs/steps.md#callbacks). A post that came earlier is in the run's
// row of early callbacks.

import { earlyCallbacks, earlyCallbacksId, takeCallback } from '../../arrival/callback/early-callbacks.ts'
import { noteWritten } from '../../run/assumptions.ts'
import type { OpcodeRules } from './opcode.ts'
import { recordSucceeded, recordWaiting } from './record.ts'

export const waitForCallback: OpcodeRules<'WaitForCallback'> = {
  payload: null,
  runsOnRunner: false,
  parksFor: 'callback',
  whenDue: { data: 'null', timedOut: true },
  draft(pass, opcode) {
    const { draft, assumptions } = pass
    const id = earlyCallbacksId(draft.run)
    const row = assumptions.flow.get(id) ?? null
    draft.guards.push({ type: 'flow', id, version: pass.context.assumptions.flow.get(id)?.version ?? 0 })
    const data = earlyCallbacks(row).get(opcode.id)
    if (row && data !== undefined) {
      const taken = takeCallback(row, opcode.id)
      draft.changes.push(taken)
      noteWritten(assumptions, [taken])
      return recordSucceeded(pass, opcode, { data })
    }
    const { timeoutMs } = opcode
    return recordWaiting(pass, opcode, timeoutMs === undefined ? {} : { wakeAt: draft.now + Math.ceil(timeoutMs) })
  },
}
