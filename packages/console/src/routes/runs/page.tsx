// The list of runs.

import { type Item, itemsOf, usePages } from '../../data/queries.ts'
import { Link, useNavigate, useQuery } from '../../router/router.tsx'
import { Empty } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'

type Run = Item<'listRuns'>

const COLUMNS: readonly Column<Run>[] = [
  { id: 'status', header: 'Status', width: '110px', render: run => run.status },
  { id: 'workflow', header: 'Workflow', render: run => run.workflow },
  { id: 'id', header: 'Run', render: ({ id }) => <Link target={{ to: 'run', params: { id } }}>{id}</Link> },
  { id: 'app', header: 'App', width: '140px', render: run => run.app, isSecondary: true },
]

export default function RunsPage() {
  const navigate = useNavigate()
  const [get] = useQuery('runs')
  const query = usePages('listRuns', { limit: 100, q: get('q') })
  const runs = itemsOf(query)
  return (
    <Page title="Runs">
      <Panel isFlush>
        <Loaded query={query}>
          {() =>
            runs.length === 0 ? (
              <Empty title="No run yet" />
            ) : (
              <DataTable
                label="Runs"
                columns={COLUMNS}
                rows={runs}
                keyOf={run => run.id}
                hasMore={query.hasNextPage}
                isLoadingMore={query.isFetchingNextPage}
                onMore={() => void query.fetchNextPage()}
                onOpen={({ id }) => navigate({ to: 'run', params: { id } })}
              />
            )
          }
        </Loaded>
      </Panel>
    </Page>
  )
}
