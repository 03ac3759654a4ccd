// RunWorkflow: a step that starts a child run and waits for its end (docs/concepts.md#children).

import { notRegistered, startChild } from '../../arrival/child/child-start.ts'
import type { OpcodeRules } from './opcode.ts'
import { recordFailed, recordWaiting } from './record.ts'

export const runWorkflow: OpcodeRules<'RunWorkflow'> = {
  payload: 'childData',
  runsOnRunner: false,
  parksFor: 'child',
  whenDue: null,
  draft(pass, opcode) {
    const { draft, assumptions } = pass
    const { catalog, report } = pass.context
    const { childName: workflow, childApp: app, data: input } = opcode
    const wanted = { workflow, app, input }
    const step = { id: opcode.id, index: draft.nextIndex }
    const started = startChild(draft, { step, wanted }, { catalog, report, assumptions })
    if (started !== 'unknown') {
      if ('error' in started) return recordFailed(pass, opcode, started.error)
      return recordWaiting(pass, opcode, started)
    }
    if (catalog.childGraceMs === 0) return recordFailed(pass, opcode, notRegistered(wanted, catalog))
    return recordWaiting(pass, opcode, { childStart: { ...wanted, until: draft.now + catalog.childGraceMs } })
  },
}
