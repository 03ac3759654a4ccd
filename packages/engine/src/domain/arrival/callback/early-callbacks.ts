// Callbacks that came before their run waited for them (docs/steps.md#callbacks): one flow-control row of the run keeps them
// until the steps begin to wait. Its state is an object of the posted JSON by step id. Used by the decisions about posts and
// about waits.

import type { Change } from '../../model/change.ts'
import { EngineError } from '../../model/errors.ts'
import { type FlowRow, firstVersion, flowRowId } from '../../model/flow-row.ts'
import type { Run } from '../../model/run.ts'
import { type JsonText, objectMembers } from '../../text/json-text.ts'

/** Maximum callbacks that a run keeps, and maximum characters of their payloads. */
export const EARLY_CALLBACKS_MAX = 1000
const EARLY_CALLBACK_CHARS_MAX = 32 * 1024 * 1024

type Owner = Pick<Run, 'namespace' | 'id'>

const rowOf = ({ namespace, id }: Owner) =>
  ({ namespace, app: '', workflow: '', policy: 'callbacks', key: id }) as const

/** The id of the run's row. */
export function earlyCallbacksId(run: Owner): string {
  return flowRowId(rowOf(run))
}

/** The callbacks that the row keeps, by step id. */
export function earlyCallbacks(row: Pick<FlowRow, 'state'> | null | undefined): Map<string, JsonText> {
  return row ? objectMembers(row.state) : new Map()
}

/**
 * The change that keeps one more callback.
 * @throws EngineError `conflict` when the run has the maximum.
 */
export function keepCallback(
  run: Owner,
  row: FlowRow | null | undefined,
  callback: { stepId: string; data: JsonText; now: number },
): Change {
  const kept = earlyCallbacks(row)
  kept.set(callback.stepId, callback.data)
  const state = stateOf(kept)
  if (kept.size > EARLY_CALLBACKS_MAX || state.length > EARLY_CALLBACK_CHARS_MAX)
    throw new EngineError(
      'conflict',
      `the run keeps ${kept.size - 1} callbacks that no step waits for yet; a run keeps at most ${EARLY_CALLBACKS_MAX} of them, with ${EARLY_CALLBACK_CHARS_MAX} characters in total`,
      { details: { limit: EARLY_CALLBACKS_MAX } },
    )
  const id = earlyCallbacksId(run)
  const version = row ? row.version + 1 : firstVersion(`${id} ${callback.stepId} ${callback.now}`)
  return { type: 'flow.saved', row: { id, ...rowOf(run), version, state } }
}

/** The change that takes a callback out of the row. */
export function takeCallback(row: FlowRow, stepId: string): Change {
  const kept = earlyCallbacks(row)
  kept.delete(stepId)
  if (kept.size === 0) return { type: 'flow.deleted', id: row.id }
  return { type: 'flow.saved', row: { ...row, version: row.version + 1, state: stateOf(kept) } }
}

function stateOf(kept: ReadonlyMap<string, JsonText>): JsonText {
  return `{${[...kept].map(([id, data]) => `${JSON.stringify(id)}:${data}`).join(',')}}`
}
