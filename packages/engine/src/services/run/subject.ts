// The run that an action is about, as it is loaded for a decision, and the flow control of its forks. Used by the services that
// act on runs.

import { EngineError } from '../../domain/model/errors.ts'
import type { Run } from '../../domain/model/run.ts'
import type { Under } from '../../domain/run/create.ts'
import { RunState } from '../../domain/run/state.ts'
import { shownRunId } from '../../domain/text/ids.ts'
import type { Core } from '../commit/core.ts'

/** @throws EngineError `not_found`, also for a run of another namespace. */
export async function loadState(
  { store }: Pick<Core, 'store'>,
  { namespace }: { namespace: string },
  runId: string,
): Promise<RunState> {
  const loaded = await store.loadRun(runId)
  if (loaded?.run.namespace !== namespace) throw noRun(runId)
  return RunState.loaded(loaded)
}

export function noRun(runId: string): EngineError {
  return new EngineError('not_found', `There is no run ${shownRunId(runId)}.`)
}

/** A fork is under its workflow's present flow control. */
export function underOf({ catalog, report }: Pick<Core, 'catalog' | 'report'>, run: Run): Under {
  return { workflow: catalog.view(run.namespace).workflow(run.app, run.workflow), report }
}
