// RunWorkflow: a step that starts a child run and waits for its end (docs/concepts.md#children).

import { notRegistered, startChild } from '../../arrival/child/child-start.ts'
import type { OpcodeRules } from './opcode.ts'
import { recordFailed, recordWaiting } from './record.ts'

export const runWorkflow: OpcodeRules<'RunWorkflow'> = {
  payload: 'childData',
  runsOnRunner: false,
  parksFor: 'child',
  // A child that has not ended by its timeout is cancelled, and the step fails (pass/park.ts).
  whenDue: null,
  draft(pass, opcode) {
    const { draft, assumptions } = pass
    const { catalog, report } = pass.context
    const { childName: workflow, childApp: app, data: input, timeoutMs, priority } = opcode
    const wanted = { workflow, app, input, priority }
    const wakeAt = timeoutMs === undefined ? undefined : draft.now + Math.ceil(timeoutMs)
    const step = { id: opcode.id, index: draft.nextIndex }
    const started = startChild(draft, { step, wanted }, { catalog, report, assumptions })
    if (started !== 'unknown') {
      if ('error' in started) return recordFailed(pass, opcode, started.error)
      return recordWaiting(pass, opcode, { ...started, wakeAt })
    }
    if (catalog.childGraceMs === 0) return recordFailed(pass, opcode, notRegistered(wanted, catalog))
    const childStart = { ...wanted, until: draft.now + catalog.childGraceMs }
    return recordWaiting(pass, opcode, { childStart, wakeAt })
  },
}
