// The table of the ids that callers gave to runs. A row of an erased run stays, so that its id is never used again.

import { text } from '../description/column.ts'
import { table } from '../description/table.ts'

interface GivenRunId {
  namespace: string
  givenId: string
  /** The id under which the run is stored. */
  runId: string
}

export const GIVEN_RUN_IDS = table<GivenRunId>()('given_run_ids', {
  key: ['namespace', 'given_id'],
  since: 2,
  fixed: { namespace: text, givenId: text, runId: text },
  indexes: { given_run_ids_of: { on: 'run_id' } },
})
