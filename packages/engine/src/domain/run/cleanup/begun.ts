// Rollbacks that have begun: a fork must not carry over a step that a cleanup run undoes.

import { EngineError } from '../../model/errors.ts'
import type { Step } from '../../model/step.ts'
import { shownRunId } from '../../text/ids.ts'

/** The name of a step that undoes another begins with this (docs/wire-protocol.md#cleanup). */
export const ROLLBACK_PREFIX = 'rollback:'

/** The runs that clean up after a run. */
export interface Cleanups {
  /** A cleanup run that has not ended. It may be about to undo any step. */
  liveRunId?: string
  /** Names of the rollbacks that have a record. */
  begun: ReadonlySet<string>
}

/** @throws EngineError `conflict`, which names the first step that was undone or will be. */
export function refuseUndone(carried: readonly Step[], { liveRunId, begun }: Cleanups): void {
  const names = new Set([...begun].map(withoutRepeat))
  const undone = carried.find(
    ({ rollback, name }) => rollback && (liveRunId !== undefined || names.has(withoutRepeat(ROLLBACK_PREFIX + name))),
  )
  if (!undone) return
  const { name: step } = undone
  const is = liveRunId === undefined ? 'was rolled back' : `is to be rolled back by run ${shownRunId(liveRunId)}`
  const message = `Step "${step}" ${is}: a run that keeps its result would rely on undone work. Replay the run, or retry from this step or an earlier one.`
  throw new EngineError('conflict', message, {
    details: { step, ...(liveRunId && { cleanupRunId: shownRunId(liveRunId) }) },
  })
}

/** Repeats of a name count as one name: their rollbacks may be numbered in another order. */
function withoutRepeat(name: string): string {
  return name.replace(/:\d+$/, '')
}
