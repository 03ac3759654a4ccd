// The table of the ids of erased runs, which are never used again.

import { integer, text } from '../description/column.ts'
import { table } from '../description/table.ts'

interface ErasedRun {
  id: string
  namespace: string
  erasedAt: number
}

export const ERASED_RUNS = table<ErasedRun>()('erased_runs', {
  key: ['id', 'namespace'],
  since: 2,
  fixed: { id: text, namespace: text, erasedAt: integer },
})
