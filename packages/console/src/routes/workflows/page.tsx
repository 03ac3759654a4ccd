// Workflows: every definition with its triggers as text, and the results of its runs in the window of time, sorted by a column.

import { useRead } from '../../data/queries.ts'
import { useNavigate, useQuery } from '../../router/router.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { useMovingWindow } from '../../ui/live-list/use-moving-window.ts'
import { useTime } from '../../ui/range/use-time.ts'
import { Empty, FilteredEmpty } from '../../ui/states/empty.tsx'
import { activeFilters, windowFields } from '../../ui/states/filter-fields.ts'
import { FirstRunner } from '../../ui/states/first-run.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { ListTable } from '../../ui/table/list-table.tsx'
import { WholeRows } from '../../ui/table/whole-rows.tsx'
import { lookAtWorkflow, WORKFLOW_COLUMNS } from './columns.tsx'
import { keyOf } from './served.ts'
import { sorted } from './sort.ts'
import { useOrder } from './use-order.tsx'
import { ROWS_RENEWAL, useWorkflowRows } from './use-workflow-rows.ts'

export default function WorkflowsPage() {
  const [get, set] = useQuery('workflows')
  const navigate = useNavigate()
  const [app, q, since = '24h'] = [get('app'), get('q'), get('since')]
  const definitions = useRead('listWorkflows', { app })
  const until = useTime(get('until'))
  const from = useMovingWindow(since, ROWS_RENEWAL)
  const { rowOf } = useWorkflowRows({ app, since: from, until })
  const apps = useRead('listApps', {}).data?.map(({ name }) => name) ?? []
  const [order, columns, sortField] = useOrder(WORKFLOW_COLUMNS, get, set)
  const filters = activeFilters(['app', 'q'], get, set)
  return (
    <Page title="Workflows">
      <FilterBar
        label="Filter workflows"
        fields={[
          { name: 'q', label: 'Name', value: q, onChange: q => set({ q }) },
          { name: 'app', label: 'App', value: app, known: apps, onChange: app => set({ app }) },
          ...windowFields({ since, until: get('until'), isRequired: true }, set),
          sortField,
        ]}
      />
      <Panel isFlush>
        <Loaded query={definitions}>
          {all => {
            const rows = all
              .filter(({ name }) => q === undefined || name.toLowerCase().includes(q.toLowerCase()))
              .map(rowOf)
            if (rows.length > 0)
              return (
                <WholeRows count={rows.length}>
                  <ListTable
                    label="Workflows"
                    columns={columns}
                    rows={sorted(rows, order)}
                    keyOf={keyOf}
                    look={lookAtWorkflow}
                    onOpen={({ app, name }) => navigate({ to: 'workflow', params: { app, name } })}
                  />
                </WholeRows>
              )
            if (filters.length > 0) return <FilteredEmpty what="workflows" filters={filters} />
            return (
              <Empty title="No workflows yet">
                <p>A workflow appears when its runner registers.</p>
                <FirstRunner />
              </Empty>
            )
          }}
        </Loaded>
      </Panel>
    </Page>
  )
}
