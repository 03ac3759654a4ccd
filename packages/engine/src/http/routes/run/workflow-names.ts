// The names that match a pattern of workflows such as `sync-*`. Called by the list of runs and by bulk actions.

import { invalid } from '../../../domain/model/errors.ts'
import type { Reads } from '../../../ports/store-reads.ts'

/** Most workflows that a pattern may match: the runs of each are read, a page at most. */
const WORKFLOWS_MAX = 50
/** The beginning of names, and a star. A star alone would narrow nothing: it is a name. */
const WORKFLOW_PATTERN = /.\*$/su

/** Returns the workflow names of runs that match the pattern; undefined for a plain name. `field` is where it was given. */
export async function namesOfPattern(
  reads: Pick<Reads, 'workflowNames'>,
  { workflow, field }: { workflow: string | undefined; field: string },
): Promise<string[] | undefined> {
  if (workflow === undefined || !WORKFLOW_PATTERN.test(workflow)) return undefined
  const names = await reads.workflowNames({ prefix: workflow.slice(0, -1), limit: WORKFLOWS_MAX + 1 })
  if (names.length > WORKFLOWS_MAX)
    throw invalid(field, `stands for more than ${WORKFLOWS_MAX} workflows: use a longer prefix`)
  return names
}
