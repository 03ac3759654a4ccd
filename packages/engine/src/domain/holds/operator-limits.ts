// Limits that an operator sets for a workflow instead of the registered ones (docs/flow-control.md#limits-of-an-operator). The
// registered ones stay in the definition, and count again once the operator's limits are removed.

import { invalid } from '../model/errors.ts'
import type { ConcurrencyLimit, OperatorLimits } from '../model/flow-control.ts'
import type { Run } from '../model/run.ts'
import type { Workflow } from '../model/workflow.ts'
import { isAbout } from './slot-ids.ts'

type Limited = Pick<Workflow, 'flowControl' | 'limits'>

/** The concurrency limits that count now. */
export function presentConcurrency({ flowControl, limits }: Limited): readonly ConcurrencyLimit[] | undefined {
  const registered = flowControl?.concurrency
  const limit = limits?.concurrency
  if (!registered || limit === undefined) return registered
  const moved = movedEntry(registered)
  return registered.map(entry => (entry === moved ? { ...entry, limit } : entry))
}

/** The limit that an operator has set for the throttle of the workflow; undefined if the registered one counts. */
export function presentThrottle(workflow: Limited | undefined): number | undefined {
  return workflow?.flowControl?.throttle && workflow.limits?.throttle
}

/** The operator's limit for which the run waits, if the limit that holds the run was set by an operator. */
export function limitOfOperator(run: Run, workflow: Limited | undefined): number | undefined {
  if (!workflow?.limits) return undefined
  if (run.waitingFor?.kind === 'throttle') return presentThrottle(workflow)
  const slot = run.holds?.slots?.find(({ id }) => id === run.waitsForSlot)
  const moved = movedEntry(workflow.flowControl?.concurrency ?? [])
  return slot && moved && isAbout(run, moved, slot) ? workflow.limits.concurrency : undefined
}

/** Checks that the workflow registers limits of these kinds. @throws EngineError `invalid_request`. */
export function checkedLimits({ flowControl }: Limited, limits: OperatorLimits): OperatorLimits {
  if (limits.concurrency !== undefined && !flowControl?.concurrency)
    throw invalid('concurrency', 'needs a registered concurrency limit: the workflow has none')
  if (limits.throttle !== undefined && !flowControl?.throttle)
    throw invalid('throttle', 'needs a registered throttle, whose period applies: the workflow has none')
  return limits
}

/** The registered limit that an operator's number replaces: the limit without a key, else the first. */
function movedEntry(registered: readonly ConcurrencyLimit[]): ConcurrencyLimit | undefined {
  return registered.find(({ key }) => key === undefined) ?? registered[0]
}
