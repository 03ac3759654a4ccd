// Starts the run of a StartRun step, which does not wait for its end (docs/steps.md#starting-runs). Called by the opcode of the
// step, and again while the step waits for its workflow (waiting-starts.ts).

import type { StepError } from '@perdure/protocol'
import type { Step } from '../../model/step.ts'
import { directRun } from '../../run/create.ts'
import type { Draft } from '../../run/draft.ts'
import { rankedId, shownRunId } from '../../text/ids.ts'
import type { JsonText } from '../../text/json-text.ts'
import { emptyClaim } from '../live/live-runs.ts'
import { claimKey, keyTaken } from '../live/start-key.ts'
import { alreadyRunningError, type ChildContext, draftStart, startable, type Wanted } from './child-start.ts'

/** The result of the step, `error`: nothing is started, or `unknown`: no app has the workflow. */
export type StartedRun = Required<Pick<Step, 'data' | 'startedRunId'>> | { error: StepError } | 'unknown'

/** Drafts the run of a step, or finds the live run with the step's key. */
export function startRunOf(
  draft: Draft,
  { step, wanted }: { step: Pick<Step, 'id' | 'index' | 'name'>; wanted: Wanted },
  context: ChildContext,
): StartedRun {
  const found = startable(draft, wanted, context)
  if (found === 'unknown' || 'error' in found) return found
  const { workflow } = found
  const { now, run: starter } = draft
  const { startKey, startAt, attributes } = wanted.direct ?? {}
  const of = { namespace: starter.namespace, app: workflow.app, workflow: workflow.name }
  const drafted = { changes: draft.changes, self: starter }
  const facts = {
    assumptions: context.assumptions,
    drafted,
    cancelled: new Set<string>(),
    now,
    catalog: context.catalog,
  }
  const byKey = startKey ? claimKey(of, startKey, facts) : emptyClaim()
  draft.guards.push(...byKey.guards)
  draft.questions.push(...byKey.questions)
  if (startKey && byKey.liveRunId !== undefined) {
    if (startKey.ifRunning === 'use') return resultOf(byKey.liveRunId, true)
    return { error: alreadyRunningError(keyTaken(of, startKey.key, byKey.liveRunId).message) }
  }
  const under = { workflow, report: context.report }
  const run = directRun({
    ...under,
    id: rankedId('run', now, step.index, starter.id, step.id),
    now,
    input: wanted.input,
    attributes,
    startKey: startKey?.key,
    startAt,
    starter: { run: starter, stepName: step.name },
  })
  const refused = draftStart(draft, run, { under, byKey }, context)
  return refused ? { error: refused } : resultOf(run.id, false)
}

function resultOf(startedRunId: string, existing: boolean): { data: JsonText; startedRunId: string } {
  return { data: JSON.stringify({ runId: shownRunId(startedRunId), existing }), startedRunId }
}
