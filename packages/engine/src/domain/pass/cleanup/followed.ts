// The run that a cleanup run follows, as it appears in the invokes of the cleanup run (docs/wire-protocol.md#cleanup). It has
// ended, so its text never changes. Called by services/pass.

import { asThrownError } from '@perdure/protocol'
import type { Step } from '../../model/step.ts'
import type { LoadedRun } from '../../run/state.ts'
import { shownRunId } from '../../text/ids.ts'
import type { JsonText } from '../../text/json-text.ts'

/** The value of `ctx.cleanup`. Its steps are in the order in which they settled; payloads are spliced in as their stored text. */
export function cleanupContext({ run, steps }: LoadedRun): JsonText {
  const { id: runId, status, error } = run
  const head = JSON.stringify({ runId: shownRunId(runId), status, ...(error && { error: asThrownError(error) }) })
  const entries = steps
    // A cancelled step has no result.
    .filter(step => step.status === 'succeeded' || step.status === 'failed')
    .sort((a, b) => a.seq - b.seq)
    .map(step => `${JSON.stringify(step.id)}:${entry(step)}`)
  return `${head.slice(0, -1)},"steps":{${entries.join(',')}}}`
}

function entry({ name, op, status, data, error, rollback }: Step): JsonText {
  const outcome = status === 'succeeded' ? `"data":${data ?? 'null'}` : `"error":${JSON.stringify(error)}`
  return `{"op":"${op}","name":${JSON.stringify(name)},${rollback ? '"rollback":true,' : ''}${outcome}}`
}
