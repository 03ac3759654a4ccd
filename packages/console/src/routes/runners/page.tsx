// Runners: the processes that execute workflows, and whether they can be reached.

import type { Calls } from '@perdure/client'
import { useRead } from '../../data/queries.ts'
import { ENGINE_URL } from '../../router/base.ts'
import { Link, useQuery } from '../../router/router.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Moment } from '../../ui/moment.tsx'
import { Empty, FilteredEmpty, Snippet } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { type Column, DataTable } from '../../ui/table/data-table.tsx'

type Runner = Calls['listRunners']['reply'][number]

const COLUMNS: readonly Column<Runner>[] = [
  {
    id: 'live',
    header: 'State',
    width: '96px',
    render: ({ live }) => <Status status={live ? 'succeeded' : 'failed'} word={live ? 'live' : 'silent'} />,
  },
  { id: 'runner', header: 'Runner', render: ({ runnerId }) => <span title={runnerId}>{runnerId}</span> },
  {
    id: 'app',
    header: 'App',
    width: '14%',
    render: ({ app }) => <Link target={{ to: 'workflows', query: { app } }}>{app}</Link>,
  },
  { id: 'seen', header: 'Seen', width: '104px', align: 'end', render: ({ lastSeenAt }) => <Moment at={lastSeenAt} /> },
  {
    id: 'transport',
    header: 'Transport',
    width: '96px',
    isSecondary: true,
    render: ({ url }) => (url.startsWith('conn:') ? 'Connect' : 'HTTP'),
  },
  {
    id: 'sdk',
    header: 'SDK',
    width: '15%',
    isSecondary: true,
    render: ({ sdkName, version }) => [sdkName, version].filter(Boolean).join(' '),
  },
  {
    id: 'runtime',
    header: 'Runtime',
    width: '15%',
    isSecondary: true,
    render: ({ runtime, framework }) => [runtime, framework].filter(Boolean).join(' · '),
  },
  { id: 'region', header: 'Region', width: '96px', isSecondary: true, render: ({ region }) => region ?? '' },
  { id: 'key', header: 'Key', width: '92px', isSecondary: true, render: runner => <KeyMatch runner={runner} /> },
]

export default function RunnersPage() {
  const [get, set] = useQuery('runners')
  const app = get('app')
  const query = useRead('listRunners', { app })
  const apps = useRead('listApps', {}).data?.map(({ name }) => name) ?? []
  return (
    <Page title="Runners">
      <FilterBar
        label="Filter runners"
        fields={[{ name: 'app', label: 'App', value: app, known: apps, onChange: app => set({ app }) }]}
      />
      <Panel isFlush>
        <Loaded query={query}>
          {runners =>
            runners.length > 0 ? (
              <DataTable
                label="Runners"
                columns={COLUMNS}
                rows={runners}
                keyOf={({ app, runnerId }) => `${app}\n${runnerId}`}
              />
            ) : app !== undefined ? (
              <FilteredEmpty what="runners" filters={[{ label: `app:${app}`, drop: () => set({ app: undefined }) }]} />
            ) : (
              <Empty title="No runner yet">
                <p>A runner is a process of yours that serves workflows. It registers by itself when it starts.</p>
                <Snippet
                  text={`npm create perdure@latest my-app\ncd my-app && ENGINE_URL=${ENGINE_URL} npm run worker`}
                />
              </Empty>
            )
          }
        </Loaded>
      </Panel>
    </Page>
  )
}

function KeyMatch({ runner: { keyMatches, keyFingerprint } }: { runner: Runner }) {
  if (keyMatches === undefined) return null
  return <span title={keyFingerprint}>{keyMatches ? '✓ matches' : '✕ differs'}</span>
}
