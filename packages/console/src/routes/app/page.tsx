// One app: its health in a sentence, its workflows with their runs in the window, its runners, and its registration.

import type { WorkflowDefinition } from '@perdure/protocol'
import { useRead } from '../../data/queries.ts'
import { Link, useNavigate, usePage, useQuery } from '../../router/router.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { type MovingWindowOptions, useMovingWindow } from '../../ui/live-list/use-moving-window.ts'
import { useTime } from '../../ui/range/use-time.ts'
import { Empty } from '../../ui/states/empty.tsx'
import { windowFields } from '../../ui/states/filter-fields.ts'
import { FirstRunner } from '../../ui/states/first-run.tsx'
import { Loaded } from '../../ui/states/loaded.tsx'
import { Page, Panel } from '../../ui/states/page.tsx'
import { Status } from '../../ui/status.tsx'
import { ListTable } from '../../ui/table/list-table.tsx'
import { WholeRows } from '../../ui/table/whole-rows.tsx'
import { type Runner, RunnersTable } from '../runners/runners-table.tsx'
import { COLUMNS_OF_APP, lookAtWorkflow } from '../workflows/columns.tsx'
import { keyOf } from '../workflows/served.ts'
import { sorted } from '../workflows/sort.ts'
import { useOrder } from '../workflows/use-order.tsx'
import { ROWS_RENEWAL, useWorkflowRows, type WorkflowRow } from '../workflows/use-workflow-rows.ts'
import css from './app.module.css'
import { type AppFacts, healthOf } from './health.ts'
import { Registration } from './registration.tsx'

const RENEWAL: MovingWindowOptions = { ...ROWS_RENEWAL, others: [...ROWS_RENEWAL.others, 'listApps'] }

export default function AppPage() {
  const app = usePage().params.app as string
  const [get, set] = useQuery('app')
  const since = get('since') ?? '24h'
  const from = useMovingWindow(since, RENEWAL)
  const until = useTime(get('until'))
  const apps = useRead('listApps', {})
  const definitions = useRead('listWorkflows', { app }, { keep: false })
  const runners = useRead('listRunners', { app }, { keep: false })
  const { stats, rowOf } = useWorkflowRows({ app, since: from, until })
  const [order, columns, sortField] = useOrder(COLUMNS_OF_APP, get, set)
  const known = apps.data?.find(({ name }) => name === app)
  const body = (workflows: readonly WorkflowDefinition[], served: readonly Runner[]) => {
    const rows = workflows.map(rowOf)
    return (
      <>
        <Loaded query={stats} rows={1}>
          {counted => <HealthLine facts={{ workflows, runners: served, stats: counted }} />}
        </Loaded>
        <Workflows rows={sorted(rows, order)} columns={columns} />
        <Runners runners={served} />
        <Registration createdAt={known?.createdAt} workflows={workflows} runners={served} />
      </>
    )
  }
  return (
    <Page
      title={app}
      windowTitle={`${app} · app`}
      actions={
        <>
          <Link target={{ to: 'runs', query: { app } }}>Runs</Link>
          <Link target={{ to: 'errors', query: { app } }}>Errors</Link>
          <Link target={{ to: 'limits', query: { app } }}>Limits</Link>
        </>
      }
    >
      <FilterBar
        label="Window"
        fields={[...windowFields({ since, until: get('until'), isRequired: true }, set), sortField]}
      />
      <Loaded query={apps}>
        {() =>
          known === undefined ? (
            <Unknown app={app} />
          ) : (
            <Loaded query={definitions}>
              {workflows => <Loaded query={runners}>{served => body(workflows, served)}</Loaded>}
            </Loaded>
          )
        }
      </Loaded>
    </Page>
  )
}

/** An app that never registered or was deleted. */
function Unknown({ app }: { app: string }) {
  return (
    <Empty title="No app of this name is registered">
      <p>
        It may have been deleted, or it belongs to another namespace. Runs are kept:{' '}
        <Link target={{ to: 'runs', query: { app } }}>Runs of the app</Link>.
      </p>
    </Empty>
  )
}

function HealthLine({ facts }: { facts: AppFacts }) {
  const { status, word, sentence } = healthOf(facts)
  return (
    <p className={css.health}>
      <Status status={status} word={word} /> {sentence}
    </p>
  )
}

interface WorkflowsProps {
  rows: readonly WorkflowRow[]
  columns: ReturnType<typeof useOrder>[1]
}

function Workflows({ rows, columns }: WorkflowsProps) {
  const navigate = useNavigate()
  return (
    <Panel title="Workflows" isFlush>
      {rows.length === 0 ? (
        <Empty title="No workflows">
          <p>The app is registered without a workflow.</p>
        </Empty>
      ) : (
        <WholeRows count={rows.length}>
          <ListTable
            label="Workflows of the app"
            columns={columns}
            rows={rows}
            keyOf={keyOf}
            look={lookAtWorkflow}
            onOpen={({ app, name }) => navigate({ to: 'workflow', params: { app, name } })}
          />
        </WholeRows>
      )}
    </Panel>
  )
}

function Runners({ runners }: { runners: readonly Runner[] }) {
  return (
    <Panel title="Runners" isFlush>
      {runners.length === 0 ? (
        <Empty title="No runners">
          <p>A runner of this app registers when it starts.</p>
          <FirstRunner />
        </Empty>
      ) : (
        <RunnersTable label="Runners of the app" runners={runners} isOfApp />
      )}
    </Panel>
  )
}
