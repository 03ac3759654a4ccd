// StartRun starts a run that outlives its starter, in the commit of the pass that reports the step, and so exactly once.
// CancelRun requests the cancel of any run of the namespace (docs/steps.md#starting-runs).

import { notRegistered } from '../../arrival/child/child-start.ts'
import { startRunOf } from '../../arrival/child/start-run.ts'
import { isTerminal } from '../../model/run.ts'
import type { OpcodeRules } from './opcode.ts'
import { recordFailed, recordSucceeded, recordWaiting } from './record.ts'
import { noRun } from './wait-for-run.ts'

export const startRun: OpcodeRules<'StartRun'> = {
  payload: 'data',
  runsOnRunner: false,
  // The step waits only for its workflow to be registered.
  parksFor: null,
  whenDue: null,
  draft(pass, opcode) {
    const { draft, assumptions } = pass
    const { catalog, report } = pass.context
    const { workflow, app, data: input, key, ifRunning = 'use', delayMs, atMs, attributes } = opcode
    const startAt = delayMs === undefined ? atMs && Math.ceil(atMs) : draft.now + Math.ceil(delayMs)
    const direct = { startAt, attributes, ...(key === undefined ? {} : { startKey: { key, ifRunning } }) }
    const wanted = { workflow, app, input, direct }
    const step = { id: opcode.id, name: opcode.name, index: draft.nextIndex }
    const started = startRunOf(draft, { step, wanted }, { catalog, report, assumptions })
    if (started !== 'unknown') {
      return 'error' in started ? recordFailed(pass, opcode, started.error) : recordSucceeded(pass, opcode, started)
    }
    if (catalog.childGraceMs === 0) return recordFailed(pass, opcode, notRegistered(wanted, catalog))
    return recordWaiting(pass, opcode, { childStart: { ...wanted, until: draft.now + catalog.childGraceMs } })
  },
}

export const cancelRun: OpcodeRules<'CancelRun'> = {
  payload: null,
  runsOnRunner: false,
  parksFor: null,
  whenDue: null,
  draft(pass, opcode) {
    const { draft, context } = pass
    const { runId: wanted } = opcode
    const { namespace, id } = draft.run
    const newest = context.assumptions.newest.get(wanted)
    if (newest === undefined) {
      draft.questions.push({ type: 'newest', namespace, runId: wanted })
      return undefined
    }
    if (newest === null) return recordFailed(pass, opcode, noRun(wanted))
    if (newest.id === id) draft.set({ cancelRequested: true })
    else if (!isTerminal(newest.status)) {
      const request = { type: 'run.cancelRequested', at: draft.now } as const
      draft.changes.push({ ...request, runId: newest.id })
      // The run may continue as another one before this is stored.
      draft.changes.push({ ...request, runId: newest.chainId ?? newest.id, followsChain: true })
    }
    return recordSucceeded(pass, opcode, { data: 'null' })
  },
}
