// The live singletons on the page of limits: which run has which key, so that further events are skipped or cancel the run.

import type { Calls } from '@perdure/client'
import { useRead } from '../../data/queries.ts'
import { Link } from '../../router/router.tsx'
import { Moment } from '../../ui/moment.tsx'
import { type ActiveFilter, Empty, FilteredEmpty, Snippet } from '../../ui/states/empty.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Panel } from '../../ui/states/page.tsx'
import type { Column } from '../../ui/table/data-table.tsx'
import { ListTable } from '../../ui/table/list-table.tsx'
import { PeekPart } from '../../ui/table/peek-panel.tsx'
import { WholeRows } from '../../ui/table/whole-rows.tsx'
import { Visible } from '../../ui/visible.tsx'
import { shortName } from '../../ui/visible-text.ts'

type Singleton = Extract<Calls['listLimits']['reply'][number], { kind: 'singleton' }>

/** Maximum number per answer. */
const SHOWN_MAX = 200

const COLUMNS: readonly Column<Singleton>[] = [
  { id: 'of', header: 'Workflow', width: '22%', render: singleton => <Of singleton={singleton} /> },
  { id: 'key', header: 'Key', width: '26%', render: ({ key }) => (key === undefined ? '' : <Visible text={key} />) },
  {
    id: 'run',
    header: 'Active run',
    render: ({ runId: id }) => (
      <Link target={{ to: 'run', params: { id } }}>
        <code>{id}</code>
      </Link>
    ),
  },
  { id: 'created', header: 'Created', width: '112px', align: 'end', render: each => <Moment at={each.createdAt} /> },
]

interface SingletonsProps {
  app: string | undefined
  workflow: string | undefined
  /** The key in the page's filter. */
  keyText: string | undefined
  filters: readonly ActiveFilter[]
}

export function Singletons({ app, workflow, keyText, filters }: SingletonsProps) {
  const query = useRead('listLimits', { kind: 'singleton', app, workflow, key: keyText, limit: SHOWN_MAX })
  return (
    <Panel title="Singletons" isFlush>
      <Loaded query={query} rows={2}>
        {found => {
          const shown = found.filter(limit => limit.kind === 'singleton')
          return (
            <>
              {shown.length === 0 ? (
                <None filters={filters} />
              ) : (
                <WholeRows count={shown.length}>
                  <ListTable
                    label="Singletons"
                    columns={COLUMNS}
                    rows={shown}
                    keyOf={({ runId }) => runId}
                    look={lookAt}
                  />
                </WholeRows>
              )}
              {shown.length === SHOWN_MAX && <p className="mute">Showing the {SHOWN_MAX} oldest; there may be more.</p>}
            </>
          )
        }}
      </Loaded>
    </Panel>
  )
}

function None({ filters }: { filters: readonly ActiveFilter[] }) {
  if (filters.length > 0) return <FilteredEmpty what="singletons" filters={filters} />
  return (
    <Empty title="No active singletons">
      <p>While a run of such a workflow is active, further events with its key are skipped, or cancel it.</p>
      <Snippet text={"singleton: { mode: 'skip', key: 'event.data.customerId' }"} />
    </Empty>
  )
}

function Of({ singleton: { app, workflow } }: { singleton: Singleton }) {
  return (
    <>
      <Link target={{ to: 'workflow', params: { app, name: workflow } }}>{workflow}</Link>{' '}
      <span className="mute">{app}</span>
    </>
  )
}

function lookAt({ workflow, app, key, runId }: Singleton) {
  return {
    head: <b>{shortName(workflow)}</b>,
    body: (
      <>
        <PeekPart name="App" text={app} />
        <PeekPart name="Key" text={key} />
        <PeekPart name="Active run" text={runId} />
      </>
    ),
  }
}
