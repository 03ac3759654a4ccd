// The list of runs without a row.

import { ENGINE_URL } from '../../router/base.ts'
import { Empty, FilteredEmpty, Snippet } from '../../ui/states/empty.tsx'
import type { activeFilters } from './filter-box.tsx'

/** No row: because of the filters, or because no run was ever started. */
export default function NoRuns({ filters }: { filters: ReturnType<typeof activeFilters> }) {
  if (filters.length > 0) return <FilteredEmpty what="runs" filters={filters} />
  return (
    <Empty title="No run yet">
      <p>A run starts when an event arrives that a workflow names as its trigger. These lines make the first one.</p>
      <Snippet text={FIRST_RUNNER} />
      <Snippet text={FIRST_EVENT} />
    </Empty>
  )
}

const FIRST_RUNNER = `npm create perdure@latest my-app
cd my-app && ENGINE_URL=${ENGINE_URL} npm run worker`
const FIRST_EVENT = `curl ${ENGINE_URL}/events -H 'content-type: application/json' \\
  -d '{"name": "user.signed-up", "data": {"name": "Ada"}}'`
