// Runners: the processes that execute workflows, and whether they can be reached.

import { renew, useRead } from '../../data/queries.ts'
import { useQuery } from '../../router/router.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { useRenewal } from '../../ui/live-list/use-renewal.ts'
import { Empty, FilteredEmpty } from '../../ui/states/empty.tsx'
import { activeFilters } from '../../ui/states/filter-fields.ts'
import { FirstRunner } from '../../ui/states/first-run.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { type Runner, RunnersTable } from './runners-table.tsx'

/** Delay from a change of a run to the next read. */
const RENEWAL_MS = 10_000

export default function RunnersPage() {
  const [get, set] = useQuery('runners')
  const [app, workflow] = [get('app'), get('workflow')]
  const query = useRead('listRunners', { app })
  useRenewal(() => renew('listRunners'), { afterMs: RENEWAL_MS })
  const apps = useRead('listApps', {}).data?.map(({ name }) => name) ?? []
  const known = [...new Set((query.data ?? []).flatMap(({ workflows = [] }) => workflows.map(({ name }) => name)))]
  const serves = ({ workflows = [] }: Runner) =>
    workflow === undefined || workflows.some(({ name }) => name === workflow)
  const filters = activeFilters(['app', 'workflow'], get, set)
  return (
    <Page title="Runners">
      <FilterBar
        label="Filter runners"
        fields={[
          { name: 'app', label: 'App', value: app, known: apps, onChange: app => set({ app }) },
          {
            name: 'workflow',
            label: 'Workflow',
            value: workflow,
            known: known.sort(),
            onChange: workflow => set({ workflow }),
          },
        ]}
      />
      <Panel isFlush>
        <Loaded query={query}>
          {all => {
            const runners = all.filter(serves)
            return runners.length > 0 ? (
              <RunnersTable label="Runners" runners={runners} />
            ) : filters.length > 0 ? (
              <FilteredEmpty what="runners" filters={filters} />
            ) : (
              <Empty title="No runners yet">
                <p>A runner is your process that executes workflows. It registers when it starts.</p>
                <FirstRunner />
              </Empty>
            )
          }}
        </Loaded>
      </Panel>
    </Page>
  )
}
