// RunWorkflow: a step that starts a child run and waits for its end (docs/concepts.md#children).

import type { StepError } from '@perdure/protocol'
import { catalogGuards, registeredGuards } from '../../run/assumptions.ts'
import { childRun } from '../../run/create.ts'
import type { DraftedPass, OpcodeRules, PassOpcodeOf } from './opcode.ts'
import { recordFailed, recordWaiting } from './record.ts'

export const runWorkflow: OpcodeRules<'RunWorkflow'> = {
  payload: 'childData',
  runsOnRunner: false,
  parksFor: 'child',
  whenDue: null,
  draft(pass, opcode) {
    const { draft, context } = pass
    draft.guards.push(...catalogGuards(context.catalog, context.assumptions))
    const app = childApp(pass, opcode)
    if (typeof app !== 'string') return recordFailed(pass, opcode, app)
    const workflow = context.catalog.workflow(app, opcode.childName)
    if (workflow) draft.guards.push(...registeredGuards(context.assumptions, workflow))
    const child = childRun({
      parent: draft.run,
      step: { id: opcode.id, index: draft.nextIndex },
      app,
      workflow: opcode.childName,
      input: opcode.data,
      now: context.now,
      under: { workflow, report: context.report },
    })
    recordWaiting(pass, opcode, { childRunId: child.id })
    draft.changes.push({ type: 'run.created', run: child })
    return undefined
  },
}

/** The app that the opcode names, else the parent's app if it has the workflow, else the one other app that has it. */
function childApp({ draft, context }: DraftedPass, opcode: PassOpcodeOf<'RunWorkflow'>): string | StepError {
  const apps = context.catalog.appsWith(opcode.childName)
  const wanted = opcode.childApp ?? (apps.includes(draft.run.app) ? draft.run.app : undefined)
  if (wanted !== undefined && apps.includes(wanted)) return wanted
  if (wanted === undefined && apps.length === 1) return apps[0] as string
  const problem =
    wanted !== undefined
      ? `App "${wanted}" has no workflow "${opcode.childName}".`
      : apps.length === 0
        ? `No app has a workflow "${opcode.childName}".`
        : `Several apps have a workflow "${opcode.childName}" (${apps.join(', ')}): name one.`
  return { name: 'ChildNotStartedError', message: problem }
}
