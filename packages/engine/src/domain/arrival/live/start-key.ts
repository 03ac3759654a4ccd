// The key of a direct start: at most one live run of a workflow has it (docs/concepts.md#one-live-run-per-key). Called where
// callers and steps start runs.

import { EngineError } from '../../model/errors.ts'
import type { StartKey } from '../../model/flow-control.ts'
import { shownRunId } from '../../text/ids.ts'
import { cancelLive, emptyClaim, type LiveClaim, type LiveFacts, type LiveKey, liveRunsWithKey } from './live-runs.ts'

type Of = Omit<LiveKey, 'type' | 'key'>

/** Claims the key for a new run of the workflow. Nothing of the start may be committed if the claim names a live run. */
export function claimKey({ namespace, app, workflow }: Of, { key, ifRunning }: StartKey, known: LiveFacts): LiveClaim {
  const unit = emptyClaim()
  const live = liveRunsWithKey({ type: 'started', namespace, app, workflow, key }, { known, unit })
  const [first] = live
  if (ifRunning !== 'cancel') return first === undefined ? unit : { ...unit, liveRunId: first }
  for (const runId of live) cancelLive(runId, { known, unit })
  return unit
}

/** The error of a start whose key a live run has. */
export function keyTaken(of: Pick<Of, 'app' | 'workflow'>, key: string, liveRunId: string): EngineError {
  const runId = shownRunId(liveRunId)
  const { app, workflow } = of
  const message = `Run ${runId} of workflow "${workflow}" of app "${app}" is live and has the key ${JSON.stringify(key)}: nothing was started.`
  return new EngineError('already_running', message, { details: { runId } })
}
